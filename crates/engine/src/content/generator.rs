//! Incompressible bytes by key and block number: eight lanes of xorshift128+, which compilers turn into vector
//! instructions on every machine: 14 GB/s on one core with SSE2 alone (docs/reference/tools.md#pattern-generator).
//!
//! xorshift128+ is Vigna's (shifts 23, 17, 26); the lanes are seeded by the finaliser of SplitMix64. No secret
//! depends on either: a card that compresses or recognises patterns must find none.

use cardscope_model::random::{GOLDEN, mix};

/// Bytes that are made at once: the smallest sector there is.
pub(super) const BLOCK: usize = 512;

const LANES: usize = 8;

/// A function compiled once more for each wider set of instructions that an x86-64 processor may have; the first that it
/// has is taken. The portable function is inlined, so that each caller's instructions are used.
macro_rules! widest {
    (
        $(#[$doc:meta])*
        $vis:vis fn $name:ident $arguments:tt -> $given:ty = $portable:path, $call:tt;
        $($enabled:literal if $($feature:tt)&&+),+
    ) => {
        $(#[$doc])*
        #[inline]
        $vis fn $name $arguments -> $given {
            #[cfg(target_arch = "x86_64")]
            {
                $(if $(is_x86_feature_detected!($feature))&&+ {
                    #[target_feature(enable = $enabled)]
                    fn wide $arguments -> $given {
                        $portable $call
                    }
                    // SAFETY: the processor was just found to have what the function is compiled for.
                    return unsafe { wide $call };
                })+
            }
            $portable $call
        }
    };
}
pub(super) use widest;

widest! {
    /// Makes block `number` of the stream of `key`. The bytes are the same on machines of either byte order.
    pub(super) fn block(key: u64, number: u64, out: &mut [u8; BLOCK]) -> () = portable, (key, number, out);
    "avx512f,avx512dq" if "avx512f" && "avx512dq", "avx2" if "avx2"
}

widest! {
    /// Whether a block holds `head` and behind it, to its end, what [`block`] makes. The words are held against it as
    /// they come, which is nearly twice as fast as to make them, store them and compare.
    pub(super) fn same(key: u64, number: u64, head: &[u64], found: &[u8; BLOCK]) -> bool
        = portable_same, (key, number, head, found);
    "avx512f,avx512dq" if "avx512f" && "avx512dq", "avx2" if "avx2"
}

/// In plain Rust; inlined, so that each caller's instructions are used.
#[inline(always)]
pub(super) fn portable(key: u64, number: u64, out: &mut [u8; BLOCK]) {
    let (places, _) = out.as_chunks_mut::<8>();
    let (rows, _) = places.as_chunks_mut::<LANES>();
    let mut rows = rows.iter_mut();
    each_row(key, number, |words| {
        if let Some(row) = rows.next() {
            *row = words.map(u64::to_le_bytes);
        }
    });
}

#[inline(always)]
fn portable_same(key: u64, number: u64, head: &[u64], found: &[u8; BLOCK]) -> bool {
    let (places, _) = found.as_chunks::<8>();
    let (rows, _) = places.as_chunks::<LANES>();
    let mut rows = rows.iter();
    let mut head = Some(head);
    let mut wrong = [0; LANES];
    each_row(key, number, |mut words| {
        for (word, own) in words.iter_mut().zip(head.take().unwrap_or_default()) {
            *word = *own;
        }
        if let Some(row) = rows.next() {
            for lane in 0..LANES {
                wrong[lane] |= words[lane] ^ u64::from_le_bytes(row[lane]);
            }
        }
    });
    wrong == [0; LANES]
}

/// Makes a block's words, eight at a time.
#[inline(always)]
fn each_row(key: u64, number: u64, mut each: impl FnMut([u64; LANES])) {
    let start = mix(key ^ mix(number.wrapping_add(GOLDEN)));
    let mut a: [u64; LANES] = std::array::from_fn(|lane| mix(start.wrapping_add(STEPS[lane])));
    // One mixed half is enough, and the two are never both zero, the one state that would stay so.
    let mut b = a.map(|word| !word.rotate_left(32));
    for _ in 0..BLOCK / (8 * LANES) {
        let mut words = [0; LANES];
        for lane in 0..LANES {
            let y = b[lane];
            let x = a[lane] ^ (a[lane] << 23);
            a[lane] = y;
            b[lane] = x ^ y ^ (x >> 17) ^ (y >> 26);
            words[lane] = b[lane].wrapping_add(y);
        }
        each(words);
    }
}

/// What sets the lanes of a block apart.
const STEPS: [u64; LANES] = {
    let mut steps = [GOLDEN; LANES];
    let mut lane = 1;
    while lane < LANES {
        steps[lane] = steps[lane - 1].wrapping_add(GOLDEN);
        lane += 1;
    }
    steps
};
