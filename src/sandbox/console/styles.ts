/** The stylesheet of the console. */
export const STYLES = `
:root {
  color-scheme: light dark;
  --text: light-dark(#1b1f24, #e6e9ee); --soft: light-dark(#555e6b, #a6b0be); --page: light-dark(#fff, #14171c);
  --raised: light-dark(#f4f6f9, #1c2129); --line: light-dark(#d5dae1, #343c48); --link: light-dark(#0b57c2, #8ab8ff);
  --good: light-dark(#0a6b3d, #6fd6a1); --bad: light-dark(#b3261e, #ff9c94); --warn: light-dark(#8a5300, #f5c267);
  --busy: light-dark(#0b57c2, #8ab8ff);
  font: 15px/1.5 system-ui, sans-serif; color: var(--text); background: var(--page);
}
* { box-sizing: border-box; }
body { margin: 0; }
.skip { position: absolute; left: -100vw; padding: .5rem 1rem; background: var(--page); }
.skip:focus { left: 0; z-index: 2; }
header { display: flex; flex-wrap: wrap; gap: .25rem 1.5rem; align-items: center; padding: .5rem 1.25rem; background: var(--raised); border-bottom: 1px solid var(--line); }
header > * { min-width: 0; max-width: 100%; }
.brand, .now { margin: 0; } .now { color: var(--soft); margin-left: auto; font-variant-numeric: tabular-nums; }
nav { flex: 1 1 auto; max-width: 100%; display: flex; gap: .75rem; align-items: center; min-width: 0; } nav b { color: var(--soft); font-weight: 400; } nav ul { min-width: 0; }
.account { flex-basis: 100%; display: flex; flex-wrap: wrap; align-items: center; gap: .25rem 1rem; justify-content: space-between; }
.account form { display: flex; flex-wrap: wrap; gap: .5rem; align-items: center; color: var(--soft); overflow-wrap: anywhere; }
nav ul { display: flex; flex-wrap: wrap; gap: .25rem; list-style: none; margin: 0; padding: 0; }
nav a { display: block; padding: .3rem .6rem; border-radius: .4rem; color: inherit; text-decoration: none; }
nav a:hover { background: var(--line); } nav a[aria-current] { background: var(--page); outline: 1px solid var(--line); font-weight: 600; }
main { padding: 0 1.25rem 6rem; max-width: 90rem; margin: 0 auto; } main:focus { outline: none; }
h1 { font-size: 1.5rem; margin: 1rem 0 .75rem; overflow-wrap: anywhere; } h2 { font-size: 1.1rem; margin: 1.75rem 0 .5rem; } h3 { font-size: 1rem; margin: 1rem 0 .25rem; }
a { color: var(--link); } :focus-visible { outline: 2px solid var(--link); outline-offset: 2px; }
.scroll { position: relative; overflow-x: auto; border: 1px solid var(--line); border-radius: .5rem; }
table { border-collapse: collapse; width: 100%; } caption { position: absolute; width: 1px; height: 1px; overflow: hidden; clip-path: inset(50%); white-space: nowrap; }
tr:first-child th { border-top: 0; }
th, td { text-align: left; vertical-align: top; padding: .4rem .75rem; border-top: 1px solid var(--line); }
th { background: var(--raised); font-weight: 600; white-space: nowrap; } td { min-width: 4rem; overflow-wrap: break-word; }
.path, code, pre { font-family: ui-monospace, monospace; font-size: .9em; } .path { overflow-wrap: break-word; } .short { white-space: nowrap; }
.why { color: var(--soft); overflow-wrap: anywhere; } time { white-space: nowrap; }
pre { background: var(--raised); border: 1px solid var(--line); border-radius: .5rem; padding: .75rem; overflow: auto; white-space: pre-wrap; overflow-wrap: anywhere; max-height: 30rem; }
.badge { display: inline-block; padding: 0 .5rem; border-radius: 1rem; border: 1px solid currentColor; font-size: .9em; white-space: nowrap; }
.badge::before { content: "● "; } .good { color: var(--good); } .bad { color: var(--bad); } .warn { color: var(--warn); } .busy { color: var(--busy); } .quiet { color: var(--soft); }
.empty { color: var(--soft); padding: 1rem; border: 1px dashed var(--line); border-radius: .5rem; }
.facts { display: grid; gap: .25rem; margin: 0; } .facts div { display: grid; grid-template-columns: minmax(8rem, 14rem) 1fr; gap: .75rem; } .facts dt { color: var(--soft); } .facts dd { margin: 0; overflow-wrap: anywhere; }
.fields { display: flex; flex-wrap: wrap; gap: .75rem; align-items: end; margin: .5rem 0; } .fields label { display: grid; gap: .2rem; align-content: end; color: var(--soft); }
[type=checkbox] { min-height: 0; }
fieldset { border: 1px solid var(--line); border-radius: .4rem; display: flex; flex-wrap: wrap; gap: .25rem 1rem; } .fields fieldset label { display: flex; gap: .3rem; align-items: center; }
input, select, button, .button { font: inherit; min-height: 2.2rem; color: var(--text); background: var(--page); border: 1px solid light-dark(#7b8794, #75808f); border-radius: .4rem; padding: .3rem .6rem; max-width: 100%; }
::placeholder { color: var(--soft); opacity: 1; }
button, .button { cursor: pointer; background: var(--raised); text-decoration: none; display: inline-block; } button:hover, .button:hover { border-color: var(--link); }
.inline { display: inline; } .actions { display: flex; flex-wrap: wrap; gap: .35rem; margin: 0; } td .actions { flex-wrap: nowrap; } main > .actions, main > form { margin-block: .75rem; }
.meter { display: flex; flex-wrap: wrap; gap: .25rem .75rem; align-items: center; overflow-wrap: anywhere; } progress { accent-color: var(--link); width: 12rem; }
#notice:not(:empty) { position: fixed; inset: auto 1rem 1rem; max-width: 60rem; margin: 0 auto; display: flex; flex-wrap: wrap; gap: .5rem 1rem; align-items: center; padding: .75rem 1rem; background: var(--raised); border: 1px solid currentColor; border-radius: .5rem; box-shadow: 0 4px 20px #0004; }
#notice p { margin: 0; overflow-wrap: anywhere; } #notice code { color: var(--text); overflow-wrap: anywhere; }
p.account { flex-basis: auto; margin: 0 0 0 auto; }
@media (max-width: 40rem) {
  .path { white-space: normal; }
  nav ul { flex-wrap: nowrap; overflow-x: auto; } .scroll { border: 0; }
  table, tbody, tr, td { display: block; } thead { display: none; }
  tr { border: 1px solid var(--line); border-radius: .5rem; margin-block: .5rem; padding: .35rem 0; }
  td { display: grid; grid-template-columns: 6.5rem 1fr; gap: .5rem; border: 0; padding: .15rem .75rem; } td:has(> div:empty) { display: none; }
  td::before { content: attr(data-label); color: var(--soft); } td > div { min-width: 0; } td .actions { flex-wrap: wrap; }
 .facts div { grid-template-columns: 1fr; gap: 0; } .fields { align-items: stretch; flex-direction: column; } main, header { padding-inline: .75rem; } }
`;

/** The icon of its pages. */
export const ICON =
  '<svg xmlns="http://www.w3.org/2000/svg" viewBox="0 0 16 16"><circle cx="8" cy="8" r="7" fill="#0b57c2"/><circle cx="8" cy="8" r="3" fill="#fff"/></svg>';
