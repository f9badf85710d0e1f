//! Hashes by which the archive names what it stores once.

/// Hash of several texts; each with its length, so that no two lists run together. BLAKE3, 64 hex digits.
pub(crate) fn of(parts: &[&str]) -> String {
    digest(parts).to_hex().to_string()
}

/// The same in 32 hex digits, for what stands in very many rows: 128 bits still never meet by chance.
pub(crate) fn short(parts: &[&str]) -> String {
    let mut hex = of(parts);
    hex.truncate(32);
    hex
}

/// Hash of bytes: BLAKE3, 64 hex digits.
pub(crate) fn of_bytes(bytes: &[u8]) -> String {
    blake3::hash(bytes).to_hex().to_string()
}

/// Whether a text can be one: 64 hex digits as they are written here.
pub(crate) fn is_one(text: &str) -> bool {
    text.len() == 64 && text.bytes().all(|b| matches!(b, b'0'..=b'9' | b'a'..=b'f'))
}

fn digest(parts: &[&str]) -> blake3::Hash {
    let mut hasher = blake3::Hasher::new();
    for part in parts {
        hasher.update(&(part.len() as u64).to_le_bytes()).update(part.as_bytes());
    }
    hasher.finalize()
}
