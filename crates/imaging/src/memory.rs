//! How much memory an image may take.

/// The default limit in bytes, if enough memory is free.
const DEFAULT_LIMIT: u64 = 2 << 30;

/// The share of the free memory that one image may take: the rest is for what is done with it.
const SHARE: u64 = 2;

/// Images below this size are decoded without asking the system for memory first.
const SMALL: u64 = 128 << 20;

/// Bytes per pixel of derived values, such as the gray plane of metrics.
const DERIVED: u64 = 2;

/// Estimates the memory in bytes that an image takes: its samples as stored in the file and once
/// more as planes, and values that metrics derive.
pub(crate) fn needed(width: u64, height: u64, bytes_a_pixel: u64) -> u64 {
    width.saturating_mul(height).saturating_mul(2 * bytes_a_pixel + DERIVED)
}

/// Returns the default limit: half of the free memory, at most 2 GiB.
pub(crate) fn default_limit() -> u64 {
    free().map_or(DEFAULT_LIMIT, |free| (free / SHARE).min(DEFAULT_LIMIT))
}

/// Whether this much memory can be allocated. A failed allocation inside a codec would end the
/// program.
pub(crate) fn can_be_allocated(bytes: u64) -> bool {
    bytes < SMALL
        || usize::try_from(bytes)
            .is_ok_and(|bytes| std::hint::black_box(Vec::<u8>::new()).try_reserve_exact(bytes).is_ok())
}

/// Returns the memory that this process can still use: the smallest of what the system has left,
/// what its control group has left, and what its own limit (`ulimit -v`) leaves.
fn free() -> Option<u64> {
    [available(), left_in_group(), left_of_own_limit()].into_iter().flatten().min()
}

/// `MemAvailable` of Linux.
fn available() -> Option<u64> {
    let text = std::fs::read_to_string("/proc/meminfo").ok()?;
    kibibytes(&text, "MemAvailable:")
}

/// The memory that the control group of a container has left. Caches of files are given back when
/// they are needed.
fn left_in_group() -> Option<u64> {
    let read = |name: &str| std::fs::read_to_string(format!("/sys/fs/cgroup/{name}")).ok();
    let number = |name: &str| read(name)?.trim().parse::<u64>().ok();
    let files = read("memory.stat").and_then(|text| word(&text, "inactive_file")?.parse::<u64>().ok());
    let used = number("memory.current")?.saturating_sub(files.unwrap_or(0));
    Some(number("memory.max")?.saturating_sub(used))
}

#[cfg(unix)]
fn left_of_own_limit() -> Option<u64> {
    let limit = rustix::process::getrlimit(rustix::process::Resource::As).current?;
    let text = std::fs::read_to_string("/proc/self/status").ok()?;
    Some(limit.saturating_sub(kibibytes(&text, "VmSize:")?))
}

#[cfg(not(unix))]
fn left_of_own_limit() -> Option<u64> {
    None
}

/// Returns a number of kibibytes after its name, in bytes.
fn kibibytes(text: &str, name: &str) -> Option<u64> {
    word(text, name)?.parse::<u64>().ok()?.checked_mul(1024)
}

/// Returns the word after a name at the start of a line.
fn word<'a>(text: &'a str, name: &str) -> Option<&'a str> {
    text.lines().find_map(|line| line.strip_prefix(name))?.split_whitespace().next()
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn the_limit_is_at_most_the_default_and_what_cannot_be_allocated_is_known() {
        assert!((1..=DEFAULT_LIMIT).contains(&default_limit()));
        assert!(can_be_allocated(SMALL));
        assert!(!can_be_allocated(u64::MAX) && !can_be_allocated(1 << 62));
        assert_eq!(needed(1000, 1000, 3), 8_000_000);
        assert_eq!(needed(u64::MAX, 2, 3), u64::MAX);
    }

    #[cfg(target_os = "linux")]
    #[test]
    fn the_system_says_what_is_free() {
        assert!(free().is_some());
        assert_eq!(kibibytes("A: 1\nMemAvailable:   12 kB\n", "MemAvailable:"), Some(12 * 1024));
        assert_eq!(kibibytes("MemAvailable:", "MemAvailable:"), None);
    }
}
