//! Kernels and sandboxes that refuse what we would like.

use crate::rig::{MIB, check, file, known, mounted, on_file, plan, root, write};
use cardscope_engine::content::{ContentMatch, IoContent};
use cardscope_engine::real::{RealOptions, RealTarget};
use cardscope_engine::target::{LanePlan, Target};
use cardscope_files::ResolvedFolder;
use cardscope_model::caveat::Caveat;
use cardscope_model::recipe::KernelPath as Way;
use rstest::rstest;
use std::os::unix::fs::PermissionsExt;

/// Gives up root's rights on this thread alone, as the raw system call does.
pub(crate) fn become_nobody() {
    const NOBODY: u32 = 65_534;
    if rustix::process::geteuid().is_root() {
        // SAFETY: setresuid takes three numbers and changes this thread's credentials only.
        assert_eq!(unsafe { libc::syscall(libc::SYS_setresuid, NOBODY, NOBODY, NOBODY) }, 0);
    }
}

/// Has the kernel answer `io_uring_setup` with `errno` on this thread from now on, as container sandboxes do.
fn forbid_io_uring(errno: i32) {
    let instruction = |code: u32, k: u32, jt: u8, jf: u8| libc::sock_filter { code: code as u16, jt, jf, k };
    let mut program = [
        instruction(libc::BPF_LD | libc::BPF_W | libc::BPF_ABS, 0, 0, 0), // seccomp_data.nr
        instruction(libc::BPF_JMP | libc::BPF_JEQ | libc::BPF_K, libc::SYS_io_uring_setup as u32, 0, 1),
        instruction(libc::BPF_RET | libc::BPF_K, libc::SECCOMP_RET_ERRNO | errno as u32, 0, 0),
        instruction(libc::BPF_RET | libc::BPF_K, libc::SECCOMP_RET_ALLOW, 0, 0),
    ];
    let filter = libc::sock_fprog { len: program.len() as u16, filter: program.as_mut_ptr() };
    // SAFETY: both calls change this thread only; the filter lives until the second has copied it.
    unsafe {
        assert_eq!(libc::prctl(libc::PR_SET_NO_NEW_PRIVS, 1, 0, 0, 0), 0);
        assert_eq!(libc::prctl(libc::PR_SET_SECCOMP, libc::SECCOMP_MODE_FILTER, &raw const filter), 0);
    }
}

#[rstest]
#[case(libc::EPERM, 1)]
#[case(libc::EPERM, 16)]
#[case(libc::ENOSYS, 16)]
fn without_io_uring_plain_preads_do_the_same_and_the_result_says_so(#[case] errno: i32, #[case] depth: u32) {
    std::thread::spawn(move || {
        forbid_io_uring(errno);
        let (_directory, path) = file(MIB);
        let mut target = on_file(&path, RealOptions::default()).unwrap();
        assert_eq!(target.info().io_path, "preads");
        assert!(
            target.caveats().iter().any(|c| matches!(c, Caveat::NoIoUring { .. })),
            "{:?}",
            target.caveats()
        );
        target.plan(&plan(depth, 4096)).unwrap();
        write(&mut target, 4096, 4096, IoContent::Stream { seed: 2 }).unwrap();
        assert_eq!(
            check(&mut target, 4096, 4096, IoContent::Stream { seed: 2 }).unwrap(),
            ContentMatch::Same
        );
    })
    .join()
    .unwrap();
}

#[test]
fn later_io_uring_refusal_falls_back_to_preads() {
    std::thread::spawn(|| {
        let (_directory, path) = file(MIB);
        let mut target = on_file(&path, RealOptions::default()).unwrap();
        let had_it = target.info().io_path == "io_uring";
        forbid_io_uring(libc::EPERM);
        target.plan(&plan(4, 4096)).unwrap();
        assert_eq!(target.info().io_path, "preads");
        assert!(had_it == target.caveats().iter().any(|c| matches!(c, Caveat::NoIoUring { .. })));
        write(&mut target, 0, 4096, IoContent::Noise).unwrap();
    })
    .join()
    .unwrap();
}

#[test]
fn memory_over_lock_limit_stays_unregistered_with_caveat() {
    if !root("memory_over_the_lock_limit") {
        return;
    }
    std::thread::spawn(|| {
        let (directory, path) = file(MIB);
        for (path, mode) in [(directory.path(), 0o777), (&*path, 0o666)] {
            std::fs::set_permissions(path, std::fs::Permissions::from_mode(mode)).unwrap();
        }
        become_nobody();
        let mut target = on_file(&path, RealOptions::default()).unwrap();
        if target.info().io_path != "io_uring" {
            return println!("memory_over_the_lock_limit: left out, there is no io_uring here");
        }
        // A common user may lock 8 MiB; root, whom nobody was, has no limit to test.
        target.plan(&LanePlan { own_buffers: false, ..plan(64, MIB) }).unwrap();
        let refused = target.caveats().iter().any(|c| matches!(c, Caveat::NoRegisteredBuffers { .. }));
        let limit = rustix::process::getrlimit(rustix::process::Resource::Memlock).current;
        assert_eq!(refused, limit.is_some_and(|bytes| bytes < 64 * MIB));
        write(&mut target, 4096, 4096, IoContent::Constant(3)).unwrap();
        target.plan(&plan(1, 4096)).unwrap();
        assert_eq!(check(&mut target, 4096, 4096, IoContent::Constant(3)).unwrap(), ContentMatch::Same);
    })
    .join()
    .unwrap();
}

#[rstest]
#[case::at_open("ramfs", "rw")]
#[case::silently("ext4", "data=journal")]
fn missing_direct_io_uses_page_cache_with_caveat(#[case] kind: &str, #[case] options: &str) {
    if !root("a_file_system_without_direct_io") || !known(kind) {
        return;
    }
    let place = mounted(kind, options, 64);
    let options = RealOptions { file_system: Some(kind.into()), ..RealOptions::default() };
    let mut target =
        RealTarget::create_in_directory(ResolvedFolder::open(&place.point).unwrap(), options).unwrap();
    target.area(MIB).unwrap();
    target.plan(&LanePlan { path: Way::Buffered, ..plan(2, 4096) }).unwrap();
    assert_eq!(target.caveats(), [], "a buffered test asks for no direct I/O");
    target.plan(&plan(2, 4096)).unwrap();
    assert_eq!(target.caveats(), [Caveat::NoDirectIo { file_system: kind.into() }]);
    write(&mut target, 4096, 4096, IoContent::Stream { seed: 2 }).unwrap();
    assert_eq!(check(&mut target, 4096, 4096, IoContent::Stream { seed: 2 }).unwrap(), ContentMatch::Same);
}
