import { AudienceClient } from 'audience-activation';

const client = new AudienceClient({ baseUrl: 'http://127.0.0.1:46871' }); // its token: AUDIENCE_TOKEN
console.log(await client.cohorts.get(9999));
await client.close();