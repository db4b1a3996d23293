import { expect, test } from 'bun:test';
import { findLocation, to } from '../../web/locations.ts';

test('an address is made from its parts and taken apart again, odd names included', () => {
  expect(to('service', { project: 'shop', service: 'web' })).toBe('/p/shop/s/web');
  const path = to('repoPath', { project: 'shop', repo: 'app', rest: 'files/a b/ü?.ts' });
  expect(path).toBe('/p/shop/repos/app/files/a%20b/%C3%BC%3F.ts');
  expect(findLocation(path)).toEqual({
    name: 'repoPath',
    params: { project: 'shop', repo: 'app', rest: 'files/a b/ü?.ts' },
  });
});

test('fixed words win over variable parts, and a slash at the end means nothing', () => {
  expect(findLocation('/p/shop/new')).toEqual({ name: 'newService', params: { project: 'shop' } });
  expect(findLocation('/p/shop/s/web/releases/')?.name).toBe('releases');
  expect(findLocation('/')).toEqual({ name: 'home', params: {} });
});

test('what is no place is none, malformed encoding included', () => {
  expect(findLocation('/nothing')).toBeUndefined();
  expect(findLocation('/p/')).toBeUndefined();
  expect(findLocation('/p/%E0%A4%A')).toBeUndefined();
});
