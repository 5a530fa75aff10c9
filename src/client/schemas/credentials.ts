import * as z from 'zod/mini';
import { lazily } from './shared-schemas.ts';

/** Schema of the email and password of an account. */
export const credentialsSchema = lazily(() => z.looseObject({ email: z.string(), password: z.string() }));
