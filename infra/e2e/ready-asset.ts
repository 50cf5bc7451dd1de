const probe =
  '{"mime":"image/png","width":1920,"height":1080,"rotation":0,"codec":"png","audio":false,"bit_depth":8,"chroma":null,"colour":"srgb","hdr":false}';

/** SQL for Campaign's database: a picture that is ready, without the time that processing one takes. */
export const readyAsset = (id: string, account: string, library: string): string => `
  INSERT INTO media_assets (id, account_id, media_library_id, filename, kind, status, size_bytes, mime_type, sha256, probe,
    content_key, created_by, created_at, updated_at)
  VALUES ('${id}', '${account}', '${library}', 'summer.png', 'image', 'ready', 70, 'image/png', repeat('0', 64), '${probe}',
    '${id}', 'usr_somebody', now(), now());`;
