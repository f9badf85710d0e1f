//! Pseudorandom, incompressible bytes by key and block number: eight lanes of xorshift128+, which compilers vectorize
//! on every machine; 14 GB/s on one core with SSE2 alone (docs/reference/tools.md#pattern-generator).
//!
//! xorshift128+ is Vigna's (shifts 23, 17, 26), its lanes are seeded by the finalizer of SplitMix64. It need not be
//! cryptographic: cards must merely find nothing to compress or deduplicate.

use cardscope_model::random::{GOLDEN, mix_bits};

/// Bytes generated at a time: the smallest sector size.
pub(super) const BLOCK: usize = 512;

const LANES: usize = 8;

/// Compiles a function additionally for wider x86-64 instruction sets and calls the widest that the processor has. The
/// portable function is inlined, so that each copy uses the instructions it is compiled for.
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
                    // SAFETY: the processor has the features that the function is compiled for; this was just checked.
                    return unsafe { wide $call };
                })+
            }
            $portable $call
        }
    };
}
pub(super) use widest;

widest! {
    /// Writes block `number` of the stream of `key`; the same bytes on either byte order.
    pub(super) fn block(key: u64, number: u64, out: &mut [u8; BLOCK]) -> () = portable, (key, number, out);
    "avx512f,avx512dq" if "avx512f" && "avx512dq", "avx2" if "avx2"
}

widest! {
    /// True if a block holds `head` and then, to its end, the output of [`block`]. Comparing words as they are
    /// generated is nearly twice as fast as storing them first.
    pub(super) fn same(key: u64, number: u64, head: &[u64], found: &[u8; BLOCK]) -> bool
        = portable_same, (key, number, head, found);
    "avx512f,avx512dq" if "avx512f" && "avx512dq", "avx2" if "avx2"
}

/// Portable version of [`block`], inlined into the vectorized copies.
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

#[inline(always)]
fn each_row(key: u64, number: u64, mut each: impl FnMut([u64; LANES])) {
    let start = mix_bits(key ^ mix_bits(number.wrapping_add(GOLDEN)));
    let mut a: [u64; LANES] = std::array::from_fn(|lane| mix_bits(start.wrapping_add(STEPS[lane])));
    // One mixed half is enough, and the two are never both zero, the one state that xorshift cannot leave.
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

/// Distinct offsets, so that the lanes of a block differ.
const STEPS: [u64; LANES] = {
    let mut steps = [GOLDEN; LANES];
    let mut lane = 1;
    while lane < LANES {
        steps[lane] = steps[lane - 1].wrapping_add(GOLDEN);
        lane += 1;
    }
    steps
};
