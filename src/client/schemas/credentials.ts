import * as z from 'zod/mini';
import { lazily } from './shared-schemas.ts';

export const credentialsSchema = lazily(() => z.looseObject({ email: z.string(), password: z.string() }));
