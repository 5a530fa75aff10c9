import { type Context, Hono } from 'hono';
import type { SandboxAccount } from '../admin/account-admin.ts';
import { type Call, run } from '../admin/call-source.ts';
import { FaultRuleError } from '../faults.ts';
import type { Env } from '../http/access.ts';
import { type JsonObject, readBody, readBytes } from '../http/request-body.ts';
import type { Service } from '../service.ts';
import type { DeliveryAttempt } from '../webhook-deliveries.ts';
import { ACCOUNT_ACTIONS } from './account-actions.ts';
import { type Action, FieldError, NotFoundError, type Outcome, type Subject } from './action.ts';
import type { ConsoleContext } from './console-context.ts';
import { dueTasks } from './due-tasks.ts';
import { OPERATOR_ACTIONS } from './operator-actions.ts';
import { redactText } from './redact-request.ts';
import { shownFields, typescriptOf } from './shown-call.ts';
import { withoutOverrides } from './words.ts';

/** Returns the account in whose name an action is done, and throws if it may not do it. */
type Actor = (context: Context<Env>, action: Action, fields: JsonObject) => SandboxAccount | undefined;

/**
 * Creates the JSON endpoints of the operator: every action, and the state they change. An action of an account is done in the
 * name of the account whose email the field `account` contains, by default of the first one.
 */
export function createOperatorApi(console: ConsoleContext): Hono<Env> {
  const { service, sandbox } = console;
  const { state, clock, webhooks, jobs } = service;
  const app = withErrors();
  addActions(app, console, [...OPERATOR_ACTIONS, ...ACCOUNT_ACTIONS], (_, __, { account }) => {
    if (account === undefined) return sandbox.accounts.list()[0];
    if (typeof account !== 'string') throw new FieldError('`account` must be the email of an account.');
    return sandbox.accounts.get(account);
  });
  app.get('/state', ({ json }) => {
    clock.runDue();
    const now = new Date(clock.now()).toISOString();
    return json({ now, clock: clock.mode, requests: state.requestCount, jobs: jobs.running });
  });
  app.get('/tasks', ({ json }) =>
    json([...dueTasks(service)].map(({ time, description }) => ({ at: new Date(time).toISOString(), description }))),
  );
  app.get('/requests', ({ json }) => json(state.log));
  app.get('/deliveries', ({ json }) => json(webhooks.deliveries));
  app.get('/jobs/next', ({ json }) => json(jobs.queued));
  app.get('/faults', ({ json }) => {
    const rules = sandbox.faults.list();
    return json(
      rules.map(({ id, rule, remaining }) => ({ id, ...rule, ...(rule.times !== undefined && { remaining }) })),
    );
  });
  app.get('/accounts', ({ json }) =>
    json(sandbox.accounts.list().map(({ email, company: { name } }) => ({ email, company: name }))),
  );
  return app;
}

/** Creates the JSON endpoints of an account's pages: the actions of an account, in the name of the session's account. */
export function createAccountApi(console: ConsoleContext): Hono<Env> {
  const { service, sandbox } = console;
  const app = withErrors();
  addActions(app, console, ACCOUNT_ACTIONS, ({ req }, action, fields) => {
    const email = service.sessions.find(req.raw);
    if (email === undefined) return undefined;
    const { account: shown = email } = fields;
    if (shown !== email)
      throw new FieldError(
        `This page is of ${shown}, and the browser has logged in as ${email} since: nothing was done.`,
      );
    const account = sandbox.accounts.get(email);
    checkOwner(service, account, action, fields);
    return account;
  });
  return app;
}

function withErrors(): Hono<Env> {
  const app = new Hono<Env>();
  app.onError((error, { json }) => {
    const field = error instanceof FieldError || error instanceof FaultRuleError ? error.field : undefined;
    return json({ message: redactText(error.message), field }, error instanceof NotFoundError ? 404 : 400);
  });
  return app;
}

function addActions(app: Hono<Env>, console: ConsoleContext, actions: readonly Action[], accountOf: Actor): void {
  for (const action of actions) {
    app.on(action.method, action.path, async (context) => {
      const isEmpty = action.method === 'DELETE' && (await readBytes(context)).length === 0;
      const sent = isEmpty ? {} : await readFields(context);
      const { account: _, ...fields } = sent;
      checkNames(action, fields);
      const account = accountOf(context, action, sent);
      const { outcome, typescript } = await perform(console, action, account, fields);
      return context.json({
        ...(action.respond?.(outcome) ?? outcome.fields),
        notice: withoutOverrides(action.notice(outcome)),
        ...(typescript !== '' && { typescript }),
      });
    });
  }
}

/** Refuses a field that the action does not take, because a typo would have no effect. */
function checkNames({ fields: names }: Action, fields: JsonObject): void {
  const unknown = names && Object.keys(fields).find((name) => !names.includes(name));
  if (unknown === undefined || !names) return;
  const hint = names.length > 0 ? `use ${names.join(', ')}` : 'it takes none';
  throw new FieldError(`\`${unknown}\` is not a field of this action: ${hint}.`);
}

async function readFields(context: Context): Promise<JsonObject> {
  const isJson = /^application\/json\b/i.test(context.req.header('content-type') ?? '');
  const body = isJson ? await readBody(context) : undefined;
  if (body) return body;
  throw new FieldError('The body must be a JSON object, with Content-Type: application/json.');
}

/** Does an action; returns its outcome, and the TypeScript that does the same. */
async function perform(
  console: ConsoleContext,
  action: Action,
  account: SandboxAccount | undefined,
  fields: JsonObject,
): Promise<{ readonly outcome: Outcome; readonly typescript: string }> {
  const { service, sandbox, recorder, history } = console;
  service.clock.runDue();
  const subject: Subject = {
    sandbox,
    get account() {
      if (account) return account;
      throw new NotFoundError('Create an account first.');
    },
    state: recorder.startState,
    console,
  };
  let results: readonly unknown[] = [];
  const asked = action.call?.(subject, fields, service) ?? [];
  const calls = isCall(asked) ? [asked] : asked;
  const happened = await history.during(async () => {
    results = await Promise.all(calls.map((call) => history.inConsole(() => run(call))));
  });
  const [method, ms] = calls[0] ?? [];
  // A clock that runs has gone on meanwhile.
  if (method === sandbox.advance) history.latest = { ...happened, to: happened.from + Number(ms) };
  const result = (await action.run?.(subject, fields)) ?? (isCall(asked) ? results[0] : calls.length);
  const outcome = { fields: shownFields(fields), service, result, happened };
  return { outcome, typescript: calls.map(typescriptOf).join('\n') };
}

const isCall = (calls: Call | readonly Call[]): calls is Call => typeof calls[0] === 'function';

/** Checks that an account may do an action on its own pages: with what its organization has, and with its present password. */
function checkOwner(
  { state, webhooks }: Service,
  { email, password }: SandboxAccount,
  { path, subject }: Action,
  { id, event, current }: JsonObject,
): void {
  const endpoints = state.accounts.get(email)?.company.endpoints ?? [];
  if (subject === 'endpoint' && !endpoints.some((endpoint) => endpoint.id === id))
    throw new NotFoundError(`The webhook endpoint ${id} does not exist.`);
  const isSent = (one: DeliveryAttempt): boolean => one.event.id === event && endpoints.includes(one.event.endpoint);
  if (subject === 'event' && !webhooks.attempts.some(isSent))
    throw new NotFoundError(`The log of deliveries has no event "${event}".`);
  if (path === '/password' && current !== password)
    throw new FieldError('The current password is another one.', 'current');
}
