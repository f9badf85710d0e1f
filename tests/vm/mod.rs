//! The program under a Debian kernel with the real drivers of SD cards, NVMe disks and USB disks, in a virtual machine of
//! QEMU's whose cards can be pulled out. See `tests/vm/README.md`.

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
