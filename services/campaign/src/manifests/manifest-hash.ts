import { createHash } from 'node:crypto';
import canonicalize from 'canonicalize';
import type { Content } from './build-manifest.ts';

/** SHA-256 over the content as RFC 8785 JSON, in lower-case hex. */
export const manifestHash = (content: Content): string =>
  createHash('sha256')
    .update(canonicalize(content) ?? '')
    .digest('hex');
