import * as z from 'zod/mini';

/** Schema of the email and password of an account. */
export const credentialsSchema = z.looseObject({ email: z.string(), password: z.string() });
