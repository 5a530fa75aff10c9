import { type Context, Hono } from 'hono';
import type { SandboxAccount } from '../admin/account-admin.ts';
import { run } from '../admin/call-source.ts';
import { type ActiveFault, FaultRuleError } from '../faults.ts';
import type { Env } from '../http/access.ts';
import { type JsonObject, readBody, readBytes } from '../http/request-body.ts';
import { ACCOUNT_ACTIONS } from './account-actions.ts';
import { type Action, FieldError, NotFoundError, type Outcome, type Subject } from './action.ts';
import type { ConsoleContext } from './console-context.ts';
import { OPERATOR_ACTIONS } from './operator-actions.ts';
import { redactText } from './redact-request.ts';
import { shownFields, typescriptOf } from './shown-call.ts';
import { withoutOverrides } from './words.ts';

export function createOperatorApi(console: ConsoleContext): Hono<Env> {
  const { service, sandbox } = console;
  const { state, clock, webhooks, jobs } = service;
  const app = new Hono<Env>();
  addActions(app, console);
  app.get('/state', ({ json }) => {
    clock.runDue();
    const now = new Date(clock.now()).toISOString();
    return json({ now, clock: clock.mode, requests: state.requestCount, jobs: jobs.running });
  });
  app.get('/requests', ({ json }) => json(state.log));
  app.get('/deliveries', ({ json }) => json(webhooks.deliveries));
  app.get('/jobs/next', ({ json }) => json(jobs.queued));
  app.get('/faults', ({ json }) => {
    const left = ({ rule, remaining }: ActiveFault) => (rule.times === undefined ? {} : { remaining });
    return json(sandbox.faults.list().map((one) => ({ id: one.id, ...one.rule, ...left(one) })));
  });
  app.get('/accounts', ({ json }) =>
    json(sandbox.accounts.list().map(({ email, company: { name } }) => ({ email, company: name }))),
  );
  return app;
}

/**
 * Returns the name of the wrong field. An error about an option begins with its name. For other errors, returns the
 * first field of the action, which identifies its object.
 */
function fieldOf(error: Error, names: Action['fields']): string | undefined {
  if ((error instanceof FieldError || error instanceof FaultRuleError) && error.field !== undefined) return error.field;
  const option = /^`(?:(?:clock|limits)\.)?(\w+)/.exec(error.message)?.[1];
  return names === undefined || (option !== undefined && names.includes(option)) ? option : names[0];
}

function accountOf({ sandbox }: ConsoleContext, email: unknown): SandboxAccount | undefined {
  if (email === undefined) return sandbox.accounts.list()[0];
  if (typeof email !== 'string') throw new FieldError('`account` must be the email of an account.', 'account');
  if (sandbox.accounts.list().some((one) => one.email === email)) return sandbox.accounts.get(email);
  throw new FieldError(`The account ${email} does not exist.`, 'account');
}

function addActions(app: Hono<Env>, console: ConsoleContext): void {
  for (const action of [...OPERATOR_ACTIONS, ...ACCOUNT_ACTIONS]) {
    app.on(action.method, action.path, async (context) => {
      try {
        const isEmpty = action.method === 'DELETE' && (await readBytes(context)).length === 0;
        return context.json(await perform(console, action, isEmpty ? {} : await readFields(context, action)));
      } catch (error) {
        if (!(error instanceof Error)) throw error;
        const refusal = { message: redactText(error.message), field: fieldOf(error, action.fields) };
        return context.json(refusal, error instanceof NotFoundError ? 404 : 400);
      }
    });
  }
}

/** Refuses a field that the action does not accept, because a typo would otherwise have no effect. */
function checkNames({ fields: names }: Action, fields: JsonObject): void {
  const unknown = names && Object.keys(fields).find((name) => !names.includes(name));
  if (unknown === undefined || !names) return;
  const hint = names.length > 0 ? `use ${names.join(', ')}` : 'it takes none';
  throw new FieldError(`\`${unknown}\` is not a field of this action: ${hint}.`, unknown);
}

async function readFields(context: Context, { path }: Action): Promise<JsonObject> {
  const isJson = /^application\/json\b/i.test(context.req.header('content-type') ?? '');
  // The console has already limited the size of the body.
  const body = isJson ? await readBody(context, Number.POSITIVE_INFINITY) : undefined;
  const isState = path === '/state';
  if (body && (!isState || typeof body.version === 'number')) return body;
  if (isState) throw new FieldError('This file is not a saved state, which is the JSON of `sandbox.save()`.');
  throw new FieldError('The body must be a JSON object, with Content-Type: application/json.');
}

/** Performs an action. Returns the body of the response. */
async function perform(console: ConsoleContext, action: Action, body: JsonObject): Promise<object> {
  const { service, sandbox, history } = console;
  const { account: email, ...fields } = body;
  checkNames(action, fields);
  const account = accountOf(console, email);
  service.clock.runDue();
  const subject: Subject = {
    sandbox,
    get account() {
      if (account) return account;
      throw new NotFoundError('Create an account first.');
    },
    console,
  };
  const call = action.call?.(subject, fields, service);
  const [returned, happened] = await history.during(() => call && run(call));
  const result = (await action.run?.(subject, fields)) ?? returned;
  const outcome: Outcome = { fields: shownFields(fields), args: call?.slice(1) ?? [], service, result, happened };
  const response = action.respond?.(outcome) ?? outcome.fields;
  return { ...response, notice: withoutOverrides(action.notice(outcome)), typescript: call && typescriptOf(call) };
}
