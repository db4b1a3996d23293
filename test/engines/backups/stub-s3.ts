type Answer = (request: Request) => Response | Promise<Response>;

/** An S3 server as far as an upload goes, that misbehaves where a test wants it to. */
export const createStubS3 = (answers: { part?: Answer; other?: Answer }) => {
  const seen: string[] = [];
  const first = Promise.withResolvers<void>();
  const server = Bun.serve({
    hostname: '127.0.0.1',
    port: 0,
    idleTimeout: 60,
    maxRequestBodySize: 64 * 1024 * 1024,
    fetch: async (request) => {
      const url = new URL(request.url);
      seen.push(`${request.method} ${url.pathname}${url.search}`);
      const upload = url.searchParams.get('uploadId');
      if (request.method === 'POST' && url.searchParams.has('uploads')) return new Response(INITIATED);
      if (request.method === 'PUT' && upload !== null) {
        await request.arrayBuffer();
        first.resolve();
        return answers.part?.(request) ?? new Response('', { headers: { etag: '"e"' } });
      }
      if (request.method === 'DELETE') return new Response(null, { status: 204 });
      // An empty listing: no backup is there yet.
      if (url.searchParams.has('list-type')) return new Response(EMPTY);
      return answers.other?.(request) ?? new Response('<Error><Code>NoSuchKey</Code></Error>', { status: 404 });
    },
  });
  return {
    endpoint: `http://127.0.0.1:${server.port}`,
    seen,
    firstPart: first.promise,
    stop: () => server.stop(true),
  };
};

const INITIATED =
  '<?xml version="1.0"?><InitiateMultipartUploadResult><Bucket>b</Bucket><Key>k</Key><UploadId>u1</UploadId></InitiateMultipartUploadResult>';
const EMPTY =
  '<?xml version="1.0"?><ListBucketResult><Name>b</Name><KeyCount>0</KeyCount><MaxKeys>1000</MaxKeys><IsTruncated>false</IsTruncated></ListBucketResult>';
