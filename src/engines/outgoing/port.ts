/** A URL whose form is one that berth may reach: scheme, host and port are allowed, nothing in it is ambiguous. */
export interface OutsideUrl {
  /** Normalised, without credentials, query, fragment and final slash. */
  href: string;
  scheme: 'https' | 'http';
  /** Lower case, international names as punycode, IPv6 addresses without brackets. */
  host: string;
  port: number;
}

/** The one address that a host name was resolved and checked to: the connection goes there and nowhere else. */
export interface Pinned {
  host: string;
  port: number;
  address: string;
}

export interface OutsideRequest {
  /** Path with query. */
  path: string;
  headers?: Readonly<Record<string, string>>;
  /** Of the body; what is beyond is not read. */
  maxBytes: number;
  deadlineMs: number;
  signal?: AbortSignal;
}

export interface OutsideReply {
  status: number;
  location: string | null;
  /** In lower case, without parameters. */
  contentType: string | null;
  body: Uint8Array;
  /** Where the reply came from. */
  pinned: Pinned;
}

/**
 * The port to addresses that users gave. Contract:
 * - https on its usual port only, unless the operator listed the host (`mirror_allow`);
 * - a host that leads to the server itself, to its networks, or to a metadata service is refused, whatever notation or
 *   DNS name it comes in; one bad address among several refuses them all;
 * - connections go to the address that was checked, so a second answer of the DNS changes nothing;
 * - redirects are never followed: whoever follows one checks it like the first address;
 * - no proxy of the environment is used.
 */
export interface Outgoing {
  /** INVALID_INPUT for what berth must not reach by its form; no network is used. Messages never repeat the URL. */
  checkUrl(url: string): OutsideUrl;
  /** The addresses of the host, IPv4 first. INVALID_INPUT when one of them is refused, NOT_FOUND for an unknown name. */
  resolvePublic(url: OutsideUrl, signal?: AbortSignal): Promise<string[]>;
  /** GET without following redirects. TIMEOUT, or INTERNAL_ERROR (502, retryable) when nobody answers. */
  get(url: OutsideUrl, request: OutsideRequest): Promise<OutsideReply>;
}
