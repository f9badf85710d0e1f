//! Content hashes (BLAKE3) for data that is stored once.

/// Hash of texts in 64 hex digits. Lengths are hashed as well, so different lists never run together.
pub(crate) fn hash_texts(parts: &[&str]) -> String {
    hasher_of_texts(parts).finalize().to_hex().to_string()
}

/// Hash in 32 hex digits for very frequent rows; 128 bits still do not collide by chance.
pub(crate) fn short_hash(parts: &[&str]) -> String {
    let mut hex = hash_texts(parts);
    hex.truncate(32);
    hex
}

/// Id of a unit: BLAKE3 in hex of its unique identity, such as the CID in hex.
pub fn unit_id(identity: &str) -> String {
    hash_bytes(identity.as_bytes())
}

/// Hash of bytes in 64 hex digits.
pub(crate) fn hash_bytes(bytes: &[u8]) -> String {
    blake3::hash(bytes).to_hex().to_string()
}

/// True for a text of 64 lower-case hex digits.
pub(crate) fn is_hash(text: &str) -> bool {
    text.len() == 64 && text.bytes().all(|b| matches!(b, b'0'..=b'9' | b'a'..=b'f'))
}

/// Hash as [`of`] of the texts and a last one, which is streamed and never in memory.
pub(crate) fn hash_with_stream(parts: &[&str], last: impl Iterator<Item = u8> + Clone) -> String {
    let mut hasher = hasher_of_texts(parts);
    hasher.update(&(last.clone().count() as u64).to_le_bytes());
    let mut some = Vec::with_capacity(CHUNK_BYTES);
    for byte in last {
        some.push(byte);
        if some.len() == CHUNK_BYTES {
            hasher.update(&some);
            some.clear();
        }
    }
    hasher.update(&some).finalize().to_hex().to_string()
}

/// Bytes hashed at a time.
const CHUNK_BYTES: usize = 16 << 10;

fn hasher_of_texts(parts: &[&str]) -> blake3::Hasher {
    let mut hasher = blake3::Hasher::new();
    for part in parts {
        hasher.update(&(part.len() as u64).to_le_bytes()).update(part.as_bytes());
    }
    hasher
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn streamed_text_hashes_like_stored_text() {
        for length in [0, 7, CHUNK_BYTES - 1, CHUNK_BYTES, 3 * CHUNK_BYTES + 5] {
            let text: String = (b'a'..=b'z').cycle().take(length).map(char::from).collect();
            assert_eq!(hash_with_stream(&["a", "bc"], text.bytes()), hash_texts(&["a", "bc", &text]));
        }
    }
}
