import { AudienceClient } from 'audience-activation';

/** Client of all routes, configured by AUDIENCE_BASE_URL and AUDIENCE_TOKEN. */
export const client = new AudienceClient();
