export { storedTokenSource } from './stored-token-source.ts';
export {
  type ClientTokens,
  type Credentials,
  clientTokens,
  fingerprint,
  isUsableToken,
  memoryTokenStore,
  readStoredToken,
  type StoredToken,
  type TokenContext,
  type TokenInput,
  type TokenOperation,
  type TokenSource,
  type TokenStore,
} from './token-source.ts';
