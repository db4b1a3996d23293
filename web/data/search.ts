import { useSearchParams } from 'wouter';

/** Parameters by their names; empty ones go. */
export type SearchChange = Record<string, string | undefined>;

/** What stands behind the `?` of the address, and how parts of it change: in place, for going back means the page before. */
export const useSearchChange = (): [search: URLSearchParams, change: (values: SearchChange) => void] => {
  const [search, setSearch] = useSearchParams();
  return [search, (values) => setSearch((before) => withChange(before, values), { replace: true })];
};

export const withChange = (before: URLSearchParams, values: SearchChange): URLSearchParams => {
  const next = new URLSearchParams(before);
  for (const [name, value] of Object.entries(values))
    if (value === undefined || value === '') next.delete(name);
    else next.set(name, value);
  return next;
};
