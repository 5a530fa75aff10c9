import { AudienceClient } from '../../src/index.ts';
import { downloadTo } from '../../src/node/index.ts';

const [, , baseUrl = '', directory = ''] = process.argv;
await downloadTo(new AudienceClient({ baseUrl, token: 'test-token' }), 7, directory);
