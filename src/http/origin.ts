/** The address under which the caller sees this server. Only the caller itself gets to read it. */
export const originOf = (request: Request): string => {
  const url = new URL(request.url);
  return request.headers.get('x-forwarded-proto') === 'https' ? `https://${url.host}` : url.origin;
};
