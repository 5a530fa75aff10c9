/** The bytes of a body, or `undefined` where there are more than `most`. */
export async function readBody({ headers, body }: Request, most: number): Promise<Uint8Array | undefined> {
  if (Number(headers.get('content-length')) > most) return undefined;
  const chunks: Uint8Array<ArrayBuffer>[] = [];
  let size = 0;
  const reader = body?.getReader();
  for (let read = await reader?.read(); read && !read.done; read = await reader?.read()) {
    size += read.value.length;
    if (size > most) {
      await reader?.cancel();
      return undefined;
    }
    chunks.push(read.value);
  }
  return new Uint8Array(await new Blob(chunks).arrayBuffer());
}
