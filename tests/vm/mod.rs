//! The program in a virtual machine of QEMU with a Debian kernel and real drivers for SD cards, NVMe and USB disks,
//! whose cards can be pulled out. See `tests/vm/README.md`.

mod card;
mod machine;
mod qemu;
mod qmp;

mod capacity;
mod faulty;
mod guards;
mod identity;
mod power_cut;
mod pulled_out;
mod reader;
mod verbs;
mod without_root;
