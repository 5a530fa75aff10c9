/** Compiled as CommonJS under `node16`, which refuses to require an ES module; it never runs. */
export async function useRoot(): Promise<string> {
  const { AudienceClient, NotFoundError } = await import('audience-activation');
  const client = new AudienceClient({ baseUrl: 'https://api.example.com', token: 't' });
  try {
    return (await client.audiences.get(1)).name;
  } catch (error) {
    if (NotFoundError.isInstance(error)) return error.code;
    throw error;
  }
}
