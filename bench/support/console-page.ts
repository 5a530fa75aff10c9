/** Does what a page of the console does: reads the stream of changes, and reads the page again after each change. */
const { origin, searchParams } = new URL(process.argv[2] ?? '');
const headers = { authorization: `Bearer ${searchParams.get('token')}` };
const { body } = await fetch(`${origin}/events`, { headers });
process.send?.('open');
for await (const _ of body ?? []) await (await fetch(`${origin}/requests`, { headers })).text();
