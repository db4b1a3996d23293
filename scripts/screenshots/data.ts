/** Tables of a shop, with rows; one statement each, as the console takes them. */
export const TABLES = [
  `create table customers (
    id bigint generated always as identity primary key,
    name text not null,
    email text not null unique,
    country text not null,
    created_at timestamptz not null default now())`,
  `create table products (
    id bigint generated always as identity primary key,
    sku text not null unique,
    title text not null,
    price_cents integer not null,
    tags text[] not null default '{}',
    stock integer not null)`,
  `create table orders (
    id bigint generated always as identity primary key,
    customer_id bigint not null references customers,
    status text not null,
    total_cents integer not null,
    details jsonb,
    placed_at timestamptz not null)`,
  `insert into customers (name, email, country, created_at)
    select (array['Ada','Grace','Linus','Margaret','Edsger','Barbara','Alan','Radia'])[1 + i % 8] || ' ' ||
           (array['Berg','Okafor','Lind','Moreau','Sato','Novak'])[1 + i % 6],
           'customer' || i || '@example.com',
           (array['SE','NG','FR','JP','CZ','DE'])[1 + i % 6],
           timestamptz '2026-03-01 08:00:00+00' + i * interval '7 hours'
    from generate_series(1, 640) i`,
  `insert into products (sku, title, price_cents, tags, stock)
    select 'SKU-' || lpad(i::text, 4, '0'),
           (array['Linen shirt','Wool socks','Canvas bag','Enamel mug','Oak tray','Desk lamp'])[1 + i % 6] || ' ' || i,
           900 + (i * 137) % 9000,
           case when i % 3 = 0 then array['new','sale'] else array['basics'] end,
           (i * 31) % 240
    from generate_series(1, 180) i`,
  `insert into orders (customer_id, status, total_cents, details, placed_at)
    select 1 + (i * 7) % 640,
           (array['paid','shipped','delivered','refunded','pending'])[1 + i % 5],
           1200 + (i * 311) % 24000,
           case when i % 4 = 0 then null else jsonb_build_object('items', 1 + i % 5, 'gift', i % 7 = 0) end,
           timestamptz '2026-06-01 09:30:00+00' + i * interval '41 minutes'
    from generate_series(1, 4200) i`,
];

export const QUERY = `select o.id, c.name, c.country, o.status, o.total_cents, o.details, o.placed_at
from orders o join customers c on c.id = o.customer_id
where o.status <> 'refunded'
order by o.placed_at desc
limit 200`;

export const KEYS = [
  ...Array.from(
    { length: 24 },
    (_none, index) => `SET session:${(index * 7919 + 4001).toString(36)} user-${index} EX 3600`,
  ),
  ...Array.from(
    { length: 12 },
    (_none, index) => `HSET cart:${100 + index} items ${1 + (index % 4)} total ${1990 + index * 310}`,
  ),
  'LPUSH queue:mails welcome-41 receipt-1007 receipt-1008',
  'ZADD bestsellers 41 SKU-0012 38 SKU-0044 25 SKU-0101 17 SKU-0003',
  'INCRBY counters:visits 18231',
];
