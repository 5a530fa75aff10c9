import { AudienceClient } from 'audience-activation';

/** The client of all routes: AUDIENCE_BASE_URL and AUDIENCE_TOKEN come from the environment. */
export const client = new AudienceClient();
