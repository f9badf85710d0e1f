# Sourced by ./try and ./check: what they need, looked for first, installed only when missing.
# Asks before anything runs with more rights than yours; in CI (CI=true) it does not ask.

say() { printf '%s\n' "$*" >&2; }

# agree QUESTION: yes in CI, otherwise only if the user says so.
agree() {
    [ "${CI:-}" = true ] && return 0
    [ -t 0 ] || return 1
    printf '%s [y/N] ' "$1" >&2
    read -r answer
    [ "$answer" = y ] || [ "$answer" = Y ]
}

as_root() { if [ "$(id -u)" = 0 ]; then "$@"; else sudo "$@"; fi; }

# need_packages COMMAND:PACKAGE ...: Debian packages for the commands that are not there.
need_packages() {
    missing=
    for pair in "$@"; do
        PATH="$PATH:/usr/sbin:/sbin" command -v "${pair%%:*}" >/dev/null 2>&1 || missing="$missing ${pair#*:}"
    done
    [ -z "$missing" ] && return 0
    command -v apt-get >/dev/null 2>&1 || { say "Please install:$missing"; return 1; }
    agree "Install$missing with apt-get (as root)?" || { say "Needed and not installed:$missing"; return 1; }
    # shellcheck disable=SC2086
    as_root apt-get update -qq && as_root env DEBIAN_FRONTEND=noninteractive apt-get install -y -qq --no-install-recommends $missing >&2
}

# need_postgresql: Debian keeps its programs out of the path, one folder a version.
need_postgresql() {
    ls /usr/lib/postgresql/*/bin/initdb >/dev/null 2>&1 || need_packages initdb:postgresql
}

# need_python_venv: Debian has the part of Python that makes environments in a package of its own.
need_python_venv() {
    python3 -c 'import ensurepip, venv' 2>/dev/null && return 0
    need_packages python3-venv-is-missing:python3-venv
}

# need_rust: cargo, with the toolchain that rust-toolchain.toml names (rustup fetches that by itself).
need_rust() {
    [ -f "$HOME/.cargo/env" ] && . "$HOME/.cargo/env"
    need_packages cc:gcc curl:curl || return 1
    command -v cargo >/dev/null 2>&1 && return 0
    agree "Install Rust with rustup into $HOME/.cargo (no root needed)?" || { say "Needed and not installed: Rust, https://rustup.rs"; return 1; }
    curl --proto '=https' --tlsv1.2 -sSf https://sh.rustup.rs | sh -s -- -y --profile minimal --default-toolchain none || return 1
    . "$HOME/.cargo/env"
}
