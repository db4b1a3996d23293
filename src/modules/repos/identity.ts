/**
 * Who a principal is to git: author and committer of API commits. It follows from the name alone, so that one principal is
 * one person in every history, whichever of its tokens was used. `.invalid` reaches nobody (RFC 2606).
 */
export const gitIdentity = (principal: string): { name: string; email: string } => ({
  name: principal,
  email: /^[^@\s<>]+@[^@\s<>]+$/.test(principal)
    ? principal
    : `${
        principal
          .toLowerCase()
          .replaceAll(/[^a-z0-9]+/g, '-')
          .replaceAll(/^-+|-+$/g, '') || 'unknown'
      }@users.berth.invalid`,
});
