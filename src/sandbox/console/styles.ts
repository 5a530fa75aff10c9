/** The stylesheet of the console. Every pair of text and surface has a contrast of at least 4.5:1, every border of a control 3:1. */
export const STYLES = `
:root {
  color-scheme: light dark;
  --page: light-dark(#fff, #101318);
  --side: light-dark(#f6f7f9, #0b0d11);
  --raised: light-dark(#f6f7f9, #181c23);
  --card: light-dark(#fff, #14181e);
  --line: light-dark(#e1e5eb, #2a313c);
  --field: light-dark(#838b98, #6d7787);
  --text: light-dark(#15191f, #e8ebf0);
  --soft: light-dark(#545d6b, #a5aebb);
  --accent: light-dark(#4540c4, #aab0ff);
  --on-accent: light-dark(#fff, #15163d);
  --accent-tint: light-dark(#ecebfb, #262852);
  --good: light-dark(#08683a, #6fd6a1);
  --good-tint: light-dark(#e4f5ec, #12301f);
  --warn: light-dark(#854d00, #f2c063);
  --warn-tint: light-dark(#fdf1dc, #33260c);
  --bad: light-dark(#b3231b, #ff9a91);
  --bad-tint: light-dark(#fdeae8, #3a1815);
  --busy: light-dark(#0a57b8, #86b9ff);
  --busy-tint: light-dark(#e6f0fd, #12294a);
  --mono: ui-monospace, SFMono-Regular, Menlo, Consolas, monospace;
  --radius: 6px;
  font: 100%/1.43 system-ui, sans-serif;
  color: var(--text);
  background: var(--page);
}
*, ::before, ::after { box-sizing: border-box; }
body { margin: 0; font-size: .875rem; }
h1 { font-size: 1.375rem; line-height: 1.75rem; letter-spacing: -.01em; margin: 0; overflow-wrap: anywhere; }
h2 { font-size: 1rem; line-height: 1.5rem; margin: 2rem 0 .5rem; }
h3 { font-size: .875rem; margin: 1rem 0 .25rem; }
h1, h2, h3, b, th, dt b { font-weight: 600; }
p { margin: .25rem 0; max-width: 75ch; } ul, ol { margin: 0; padding: 0; list-style: none; }
a { color: var(--accent); text-underline-offset: 2px; text-decoration-thickness: 1px; }
:focus-visible { outline: 2px solid var(--accent); outline-offset: 2px; border-radius: 3px; }
code, pre { font-family: var(--mono); font-size: .8125rem; } code, bdi { overflow-wrap: anywhere; }
 time, .num { font-variant-numeric: tabular-nums; }
.soft { color: var(--soft); } .sr { position: absolute; width: 1px; height: 1px; overflow: hidden; clip-path: inset(50%); white-space: nowrap; }
.skip { position: absolute; left: -100vw; padding: .5rem 1rem; background: var(--page); } .skip:focus { left: 0; z-index: 9; }
[hidden] { display: none !important; }

.top { position: sticky; top: 0; z-index: 3; display: flex; align-items: center; gap: .5rem; height: 3rem; padding: 0 .75rem; background: var(--page); border-bottom: 1px solid var(--line); }
.top > :nth-child(2) { margin-right: auto; min-width: 0; }
.side { position: fixed; inset: 0 auto 0 0; width: 17rem; max-width: 85vw; height: 100dvh; max-height: none; margin: 0; padding: .75rem; border: 0; color: inherit; background: var(--side); overflow-y: auto; }
.side::backdrop { background: #0007; }
.brand { display: flex; align-items: center; gap: .5rem; padding: 0 .5rem; font-weight: 600; color: inherit; text-decoration: none; min-height: 1.75rem; }
.brand::before { content: ""; width: 1.125rem; height: 1.125rem; border-radius: 50%; border: .3rem solid var(--accent); }
.find { margin: .75rem 0 .25rem; } .find input { width: 100%; }
.side h2 { font-size: .75rem; line-height: 1rem; font-weight: 500; color: var(--soft); margin: 1rem 0 .25rem; padding: 0 .5rem; display: flex; justify-content: space-between; gap: .5rem; }
.side h2 bdi { overflow: hidden; text-overflow: ellipsis; white-space: nowrap; min-width: 0; }
.side li a { display: flex; justify-content: space-between; gap: .5rem; padding: .25rem .5rem; margin: 1px 0; border-radius: var(--radius); color: var(--text); text-decoration: none; }
.side li a:hover { background: var(--line); }
.side li a[aria-current] { background: var(--accent-tint); color: var(--accent); font-weight: 600; }
.side li span { font-size: .75rem; font-weight: 400; color: var(--soft); font-variant-numeric: tabular-nums; align-self: center; } .side li .alarm { color: var(--bad); }
main { padding: 1.25rem 1rem 5rem; min-width: 0; } @media (scripting: none) { main::before { content: "Actions need JavaScript."; } } main > * { max-width: 90rem; } main:focus { outline: 0; }
@media (min-width: 60rem) {
  body { display: grid; grid-template: auto 1fr / 13rem minmax(0, 1fr); min-height: 100dvh; background: var(--side); }
  .side { display: block; grid-area: 1 / 1 / 3 / 2; position: sticky; inset: 0 auto auto 0; width: auto; }
  .top, main { border-left: 1px solid var(--line); } .top { grid-area: 1 / 2; padding: 0 1.5rem; } .menu { display: none; } .top > :nth-child(2) { margin-left: -.5rem; }
  main { grid-area: 2 / 2; padding: 1.5rem 1.5rem 5rem; background: var(--page); }
}
.chip { border-color: var(--line); font-weight: 400; } .chip[popovertarget]:not(.menu)::after { content: ""; width: .3125rem; height: .3125rem; border: solid var(--soft); border-width: 0 1.5px 1.5px 0; rotate: 45deg; translate: 0 -1px; }
.pop { position: fixed; inset: 3.25rem .75rem auto auto; width: 20rem; max-width: calc(100vw - 1.5rem); margin: 0; padding: 1rem; color: inherit; background: var(--card); border: 1px solid var(--line); border-radius: 10px; box-shadow: 0 8px 30px #0003; }
.pop h2 { margin: 0; } .pop h3 { font-weight: 500; color: var(--soft); font-size: .75rem; }

button, .button, input, select, textarea { font: inherit; color: var(--text); background: var(--page); border: 1px solid var(--field); border-radius: var(--radius); min-height: 2rem; padding: .25rem .625rem; max-width: 100%; }
button, .button { display: inline-flex; align-items: center; justify-content: center; gap: .375rem; font-weight: 500; cursor: pointer; text-decoration: none; white-space: nowrap; }
button:hover, .button:hover { background: var(--raised); border-color: var(--text); }
.primary, .primary:hover { color: var(--on-accent); background: var(--accent); border-color: var(--accent); } .primary:hover { filter: brightness(1.12); }
.danger { color: var(--bad); } .danger:hover { background: var(--bad-tint); border-color: var(--bad); }
.danger.primary, .danger.primary:hover { color: light-dark(#fff, #2b0b08); background: var(--bad); border-color: var(--bad); }
.quiet { border-color: transparent; background: none; } .quiet:hover { background: var(--raised); border-color: transparent; }
.small { min-height: 1.625rem; padding: 0 .5rem; font-size: .8125rem; }
button[aria-pressed=true] { color: var(--accent); background: var(--accent-tint); border-color: var(--accent); }
:disabled { opacity: .55; cursor: not-allowed; }
input::placeholder, textarea::placeholder { color: var(--soft); opacity: 1; }
[type=checkbox], [type=radio] { min-height: 0; margin: 0; width: 1rem; height: 1rem; accent-color: var(--accent); flex: none; }
textarea { width: 100%; min-height: 4.5rem; resize: vertical; } .wide { width: 100%; }
.acts { display: flex; flex-wrap: wrap; gap: .375rem; align-items: center; max-width: none; } p.acts { margin: .75rem 0; } .card > .acts { margin: .75rem 0; } table + .acts { margin-top: .75rem; } .card > :last-child, .empty > :last-child { margin-bottom: 0; }
.form { display: grid; gap: .75rem; max-width: 34rem; } .form.row { display: flex; flex-wrap: wrap; align-items: end; max-width: none; } .row label { flex: 0 1 9.5rem; } .row :is(input, select) { width: 100%; }
.form label, .form .label { display: grid; gap: .25rem; font-weight: 500; } .form small { font-weight: 400; color: var(--soft); font-size: .75rem; }
.form label.check, .check { display: flex; gap: .5rem; align-items: center; font-weight: 400; }
fieldset { border: 0; margin: 0; padding: 0; min-width: 0; } legend { padding: 0; font-weight: 500; margin-bottom: .25rem; }
.seg { display: inline-flex; flex-wrap: wrap; gap: 2px; padding: 2px; border-radius: 8px; background: var(--raised); border: 1px solid var(--line); max-width: 100%; }
.seg :is(a, label, button) { display: inline-flex; gap: .375rem; align-items: center; min-height: 1.625rem; padding: 0 .625rem; border: 0; border-radius: 5px; background: none; color: var(--soft); font-weight: 500; text-decoration: none; cursor: pointer; white-space: nowrap; }
.seg :is(a, label, button):hover { color: var(--text); } .seg [type=radio] { position: absolute; opacity: 0; }
.seg :is(a[aria-current], button[aria-pressed=true], label:has(:checked)) { color: var(--text); background: var(--page); box-shadow: 0 0 0 1px var(--field); }
.seg label:has(:focus-visible) { outline: 2px solid var(--accent); outline-offset: 1px; } .seg span { font-weight: 400; color: var(--soft); font-size: .75rem; }
.tabs > .tab { display: none; } .tabs > .seg { margin-bottom: .5rem; }
.tabs:has(label:nth-of-type(1) :checked) > .tab:nth-of-type(1), .tabs:has(label:nth-of-type(2) :checked) > .tab:nth-of-type(2), .tabs:has(label:nth-of-type(3) :checked) > .tab:nth-of-type(3), .tabs:has(label:nth-of-type(4) :checked) > .tab:nth-of-type(4) { display: block; }

.head { display: flex; flex-wrap: wrap; gap: .5rem 1rem; align-items: center; margin-bottom: .75rem; } .head > .acts { margin-left: auto; } .head h1 { min-width: 0; } .head h2 { margin: 0; } * + .head:has(h2) { margin-top: 2rem; } .head + .lead { margin-top: -.25rem; }
.lead { color: var(--soft); margin: 0 0 1rem; max-width: none; } .crumb { font-size: .8125rem; color: var(--soft); margin: 0 0 .25rem; display: flex; flex-wrap: wrap; gap: .25rem .75rem; justify-content: space-between; max-width: none; }
.filter { display: flex; flex-wrap: wrap; gap: .5rem; align-items: center; margin-bottom: .75rem; } .filter [type=search] { flex: 1 1 14rem; min-width: 0; } .filter > select { flex: none; }
.pager { display: flex; flex-wrap: wrap; gap: .5rem; justify-content: space-between; align-items: center; margin: .75rem 0; color: var(--soft); max-width: none; }
.live { display: inline-flex; gap: .5rem; align-items: center; color: var(--soft); font-size: .8125rem; } .live::before { content: ""; width: .5rem; height: .5rem; border-radius: 50%; background: var(--good); } .live.paused::before { background: none; border: 2px solid var(--warn); border-block-width: 0; border-radius: 0; } #fresh { display: flex; margin: 0 auto .5rem; border-radius: 1rem; }

.note { display: grid; gap: .25rem; padding: .75rem 1rem; margin: 0 0 1rem; border: 1px solid; border-left-width: 4px; border-radius: var(--radius); } .note p { color: var(--text); margin: 0; max-width: 95ch; } .note > p:first-child { max-width: none; color: inherit; } .note > :first-child { font-size: 1rem; font-weight: 600; } .note .acts { margin-top: .5rem; }
.note.warn { background: var(--warn-tint); } .note.bad { background: var(--bad-tint); } .note.good { background: var(--good-tint); } .note.busy { background: var(--busy-tint); }
.good { color: var(--good); } .warn { color: var(--warn); } .bad { color: var(--bad); } .busy { color: var(--busy); }
.empty { padding: 1.5rem; border: 1px dashed var(--field); border-radius: 10px; } .empty > b { font-size: 1rem; } .empty .code { margin-top: .75rem; max-width: 46rem; }
.card { border: 1px solid var(--line); border-radius: 10px; background: var(--card); padding: 1rem; min-width: 0; } .card > :is(h2, h3):first-child { margin-top: 0; }
.cols { display: grid; gap: 1rem; grid-template-columns: minmax(0, 1fr); align-items: start; } .cols > * { min-width: 0; } #detail { scroll-margin-top: 4rem; }
@media (min-width: 70rem) { .cols.half { grid-template-columns: repeat(2, minmax(0, 1fr)); } .cols.half, .cols.even { align-items: stretch; } .cols.aside { grid-template-columns: minmax(0, 1fr) 19rem; } .cols.panel { grid-template-columns: minmax(0, 3fr) minmax(0, 2fr); } #detail { scroll-margin-top: 12rem; } .cols.panel > .card { position: sticky; top: 4rem; max-height: calc(100dvh - 5rem); overflow-y: auto; } }

.badge { display: inline-flex; align-items: center; gap: .375rem; min-height: 1.25rem; padding: 0 .4375rem; border-radius: 5px; font-size: .8125rem; font-weight: 500; white-space: nowrap; font-variant-numeric: tabular-nums; color: var(--soft); box-shadow: inset 0 0 0 1px var(--line); max-width: 100%; }
.badge.warn, .badge.bad, .badge.busy, .badge.good { box-shadow: none; } .badge.warn { color: var(--warn); background: var(--warn-tint); } .badge.bad { color: var(--bad); background: var(--bad-tint); } .badge.busy { color: var(--busy); background: var(--busy-tint); } .badge.good { color: var(--good); background: var(--good-tint); }
.badge:is(.warn, .bad, .busy, .good, .ok)::before { content: ""; flex: none; width: .5rem; height: .5rem; background: currentColor; } .badge:is(.good, .ok)::before { border-radius: 50%; } .badge.warn::before { clip-path: polygon(50% 0, 100% 100%, 0 100%); } .badge.busy::before { border-radius: 50%; background: none; border: 2px solid; }
.badge.ok { background: none; box-shadow: none; padding-left: 0; color: var(--text); } .badge.ok::before { color: var(--good); }
.dots { display: inline-flex; gap: 3px; vertical-align: middle; } .dots i { width: .5rem; height: .625rem; border-radius: 2px; box-shadow: inset 0 0 0 1px var(--field); } .dots .bad { background: var(--bad); box-shadow: none; height: .625rem; } .dots .good { background: var(--good); box-shadow: none; border-radius: 50%; height: .5rem; align-self: center; }
progress { appearance: none; display: block; width: 100%; height: .375rem; border: 0; border-radius: 3px; overflow: hidden; background: var(--line); color: var(--busy); } ::-webkit-progress-bar { background: var(--line); } ::-webkit-progress-value { background: currentColor; } ::-moz-progress-bar { background: currentColor; } progress.full { color: var(--warn); } td progress { margin-top: .25rem; max-width: 8rem; height: .25rem; }

table { table-layout: fixed; width: 100%; border-collapse: collapse; } caption { text-align: left; }
th { text-align: left; font-size: .75rem; font-weight: 500; color: var(--soft); padding: .375rem .5rem; border-bottom: 1px solid var(--line); white-space: nowrap; overflow: hidden; text-overflow: ellipsis; }
td { height: 2.375rem; padding: .25rem .5rem; border-bottom: 1px solid var(--line); vertical-align: middle; overflow: hidden; text-overflow: ellipsis; white-space: nowrap; }
td:first-child, th:first-child { padding-left: .75rem; } td.two { line-height: 1.25rem; padding-block: .4375rem; } td.two > div { overflow: hidden; text-overflow: ellipsis; } td.two > .l1 { display: flex; gap: .5rem; align-items: center; } .l1 > * { flex: none; } .l1 > :first-child { flex: 0 1 auto; min-width: 0; overflow: hidden; text-overflow: ellipsis; } .l2 { font-size: .8125rem; } .l2 > :has(+ code) { display: inline-block; max-width: 60%; overflow: hidden; text-overflow: ellipsis; white-space: nowrap; vertical-align: bottom; } td.wrap, .wrap > div { white-space: normal; overflow-wrap: anywhere; } .l2.cut { display: -webkit-box; -webkit-box-orient: vertical; -webkit-line-clamp: 2; white-space: normal; overflow-wrap: anywhere; } tr:has(.warn) .l2, tr:has(.bad) .l2 { color: var(--text); }
td.acts { display: table-cell; overflow: visible; text-align: right; } td.acts button { margin-left: .25rem; } td :is(button, .button, label) { position: relative; z-index: 1; } td button { border-color: var(--line); } tr:hover button { border-color: var(--field); }
tbody tr { position: relative; } tbody tr:hover { background: var(--raised); } tr[aria-selected=true], tr.on { background: var(--accent-tint) !important; }
tr .row { color: inherit; text-decoration: none; } tr .row::after { content: ""; position: absolute; inset: 0; } tr .row:focus-visible { outline: 0; } tr .row:focus-visible::after { outline: 2px solid var(--accent); outline-offset: -2px; } tr:hover .row { text-decoration: underline; }
.day td { height: auto; padding: .75rem .75rem .25rem; font-size: .75rem; font-weight: 500; color: var(--soft); } .day:hover { background: none; }
.w3 { width: 3rem; } .w4 { width: 4rem; } .w5 { width: 5.25rem; } .w6 { width: 6.5rem; } .w7 { width: 7.25rem; } .w8 { width: 8.5rem; } .w9 { width: 9.5rem; } .w11 { width: 11.25rem; } .w12 { width: 12.5rem; } .w14 { width: 15rem; } .w18 { width: 18rem; } .w20 { width: 20.5rem; } .checks { display: grid; grid-template-columns: repeat(auto-fill, minmax(10.5rem, 1fr)); gap: .375rem; }
@media (max-width: 75rem) and (min-width: 48.01rem) { .lo { display: none; } .w20 { width: 13rem; } td.acts { white-space: normal; } td.acts button { margin-block: .125rem; } }
@media (max-width: 48rem) {
  table, tbody { display: block; } thead, colgroup { display: none; }
  tr { display: flex; flex-wrap: wrap; align-items: center; gap: .125rem .75rem; padding: .625rem .25rem; border-bottom: 1px solid var(--line); }
  td, td:first-child { display: block; height: auto; padding: 0; border: 0; order: 4; color: var(--soft); font-size: .8125rem; min-width: 0; max-width: 100%; } td:empty { display: none; }
  tr::before { content: ""; order: 3; flex-basis: 100%; } .day::before { display: none; }
  td.main { order: 1; flex: 1 1 0; min-width: 40%; color: inherit; font-size: .875rem; } td.side2 { order: 2; } td.note2 { order: 3; flex: 1 0 100%; white-space: normal; overflow-wrap: anywhere; }
  td.two { padding: 0; } td.two:not(.main) > div { display: inline; } td.two:not(.main) > div + div { margin-left: .5rem; } td.main .l2 { white-space: normal; overflow-wrap: anywhere; display: -webkit-box; -webkit-box-orient: vertical; -webkit-line-clamp: 3; } td:has([type=checkbox]) { order: 0; } td.gone { display: none; } td progress { max-width: none; } td.acts { display: flex; order: 5; flex: 1 0 100%; margin-top: .375rem; } td.acts button { margin: 0; } td[data-label]::before { content: attr(data-label) ":\u00a0"; }
  td.cut { white-space: normal; display: -webkit-box; -webkit-box-orient: vertical; -webkit-line-clamp: 2; overflow-wrap: anywhere; } .day td { padding: .25rem 0 0; }
}

.facts { display: grid; gap: .375rem 1.5rem; margin: 0 0 1rem; grid-template-columns: repeat(auto-fill, minmax(min(15rem, 100%), 1fr)); } .facts .full { grid-column: 1 / -1; } .facts dt { font-size: .75rem; color: var(--soft); } .facts dd { margin: 0; overflow-wrap: anywhere; } .facts.list { grid-template-columns: fit-content(42%) minmax(0, 1fr); gap: .25rem 1rem; } .facts.list > div { display: contents; } .facts.list dt { font-size: .8125rem; }
@media (max-width: 30rem) { .facts:not(.list) { grid-template-columns: 1fr 1fr; } }
.code { margin: 0 0 .75rem; border: 1px solid var(--line); border-radius: var(--radius); background: var(--raised); min-width: 0; } .code figcaption { display: flex; align-items: center; justify-content: space-between; gap: .5rem; padding: .125rem .25rem .125rem .75rem; font-size: .75rem; color: var(--soft); border-bottom: 1px solid var(--line); min-height: 2rem; }
.code pre { margin: 0; padding: .625rem .75rem; line-height: 1.45; white-space: pre-wrap; overflow-wrap: anywhere; tab-size: 2; } .code .tall { max-height: 22rem; overflow: auto; } .code.one { display: flex; align-items: center; } .code.one pre { flex: 1; min-width: 0; padding: .375rem .75rem; } .code.one button { margin: .125rem; }
.k { color: var(--accent); } .s { color: var(--good); } .n { color: var(--busy); } .c { color: var(--soft); }
.addr { display: flex; align-items: center; gap: .5rem; max-width: 100%; min-width: 0; } .addr code { overflow: hidden; text-overflow: ellipsis; }
.steps > li { position: relative; padding: 0 0 1rem 1.5rem; } .steps > li::before { content: ""; position: absolute; left: 0; top: .3125rem; width: .625rem; height: .625rem; border-radius: 50%; background: var(--tone, var(--field)); } .steps > li:not(:last-child)::after { content: ""; position: absolute; left: .25rem; top: 1.125rem; bottom: -.125rem; width: 2px; background: var(--line); } .steps .gap { color: var(--soft); font-size: .8125rem; padding-bottom: .75rem; } .steps > .gap::before { width: .375rem; height: .375rem; left: .125rem; top: .4375rem; background: var(--line); } .steps p { margin: 0; display: flex; flex-wrap: wrap; gap: .125rem .75rem; align-items: center; max-width: none; } .is-bad { --tone: var(--bad); } .is-warn { --tone: var(--warn); } .is-good { --tone: var(--good); }
.links a { display: inline-block; padding: .125rem 0; min-height: 1.5rem; }
.todo { border: 1px solid var(--line); border-radius: 10px; background: var(--card); } .todo > li { padding: .25rem 1rem; } .todo > li + li { border-top: 1px solid var(--line); } .todo summary { display: flex; gap: .75rem; align-items: center; padding: .5rem 0; cursor: pointer; list-style: none; font-weight: 600; } .todo summary::-webkit-details-marker { display: none; } .todo summary::before { content: ""; flex: none; width: 1.125rem; height: 1.125rem; border-radius: 50%; border: 2px solid var(--field); } .todo .done summary { font-weight: 400; } .todo .done summary::before { border: 0; background: conic-gradient(var(--good) 0 0); clip-path: polygon(14% 44%, 0 58%, 38% 96%, 100% 28%, 86% 14%, 38% 68%); height: 1rem; } .todo .next summary::before { border-color: var(--accent); border-width: 5px; } .todo summary small { margin-left: auto; font-weight: 400; color: var(--soft); text-align: right; } .todo details > div { padding: 0 0 .75rem 1.875rem; }
.chart { margin: 0 0 .75rem; } .chart svg { display: block; width: 100%; height: 2.5rem; margin-bottom: .25rem; border-bottom: 1px solid var(--line); } path { fill: currentColor; }
.clock { font-size: 2.5rem; line-height: 3rem; font-weight: 600; letter-spacing: -.02em; font-variant-numeric: tabular-nums; }

dialog:not([popover]) { width: 34rem; max-width: calc(100vw - 2rem); max-height: calc(100dvh - 2rem); padding: 1.25rem; color: inherit; background: var(--card); border: 1px solid var(--line); border-radius: 12px; box-shadow: 0 16px 60px #0005; } dialog::backdrop { background: #0007; } dialog h2 { margin: 0 0 .25rem; overflow-wrap: anywhere; } dialog form > .acts { justify-content: flex-end; margin-top: 1rem; } .secret { font-size: .9375rem; user-select: all; }
#notices { position: fixed; inset: auto 1rem 1rem auto; z-index: 5; display: grid; gap: .5rem; width: 28rem; max-width: calc(100vw - 2rem); } dialog #notices { position: static; width: auto; margin-top: 1rem; } .toast { display: grid; grid-template-columns: 1fr auto; gap: .125rem .75rem; align-items: center; padding: .625rem .625rem .625rem .875rem; background: var(--card); border: 1px solid var(--line); border-left: 4px solid var(--tone, var(--good)); border-radius: var(--radius); box-shadow: 0 8px 30px #0003; } .toast b, .toast code { overflow-wrap: anywhere; } .toast code { color: var(--soft); grid-column: 1; }
@media (pointer: coarse) { button, .button, input, select, .seg :is(a, label, button), .side li a { min-height: 2.5rem; } .side li a { align-items: center; } .small { min-height: 2.25rem; } input, select, textarea { font-size: 1rem; } }
@media (max-width: 30rem) { .far { display: none; } .top { gap: .25rem; padding: 0 .5rem; } .top code { font-size: .75rem; } .top button { padding-inline: .5rem; } .empty { padding: 1rem; } .todo > li { padding: .25rem .75rem; } .todo details > div { padding-left: 0; } .note, .card { padding: .75rem; } .head > .acts { margin-left: 0; } .filter > * { flex: 1 1 auto; } }
@media (prefers-reduced-motion: no-preference) { .live:not(.paused)::before { animation: pulse 2s infinite; } @keyframes pulse { 50% { opacity: .35; } } }
@media (forced-colors: active) { .badge, .seg label:has(:checked), progress { border: 1px solid; } .badge::before, .steps > li::before, .dots i { forced-color-adjust: none; } }

dialog .form { margin: .75rem 0; } dialog .code { margin-top: .75rem; }
.seg form { display: contents; } .acts > form, td form { display: inline-flex; flex-wrap: wrap; gap: .375rem; margin: 0; align-items: center; } li form { display: inline; }
.sending [type=submit], .sending button { opacity: .55; }
.w24 { width: 24.5rem; } #several { margin: 1rem 0; } @media (max-width: 75rem) and (min-width: 48.01rem) { .w24 { width: 13rem; } } .half:is(col) { width: 50%; } .wrap { white-space: normal; } .plain { display: block; background: var(--page); } .plain main { border: 0; } .centre { display: grid; min-height: 70dvh; place-content: center; justify-items: stretch; grid-template-columns: min(24rem, 100%); } .centre form { margin: 1rem 0; } .centre button { display: block; overflow: hidden; text-overflow: ellipsis; } .centre form + form { margin: .5rem 0; }
`;

/** The icon of its pages. */
export const ICON =
  '<svg xmlns="http://www.w3.org/2000/svg" viewBox="0 0 16 16"><circle cx="8" cy="8" r="5.5" fill="none" stroke="#4540c4" stroke-width="4"/></svg>';
