import { useSearch } from 'wouter/use-browser-location';

/** The query of the address, as the browser has it: the router's own decodes names with `%` once too often. */
export const useQueryPart = (): ((name: string) => string | undefined) => {
  const query = new URLSearchParams(useSearch());
  return (name) => {
    const value = query.get(name);
    return value === null || value === '' ? undefined : value;
  };
};
