//! File format of fitted models: a header (one line of JSON), numbers, and a SHA-256 of both.

use serde::Serialize;
use serde::de::DeserializeOwned;
use sha2::{Digest as _, Sha256};

const CHECKSUM: usize = 32;

/// Serializes header and numbers and appends the checksum.
pub(crate) fn seal(header: &impl Serialize, numbers: impl Iterator<Item = u8>) -> Result<Vec<u8>, String> {
    let mut bytes = serde_json::to_vec(header).map_err(|error| error.to_string())?;
    bytes.push(b'\n');
    bytes.extend(numbers);
    let checksum = Sha256::digest(&bytes);
    bytes.extend(checksum);
    Ok(bytes)
}

/// Returns header and numbers of a file, or the reason why it is damaged.
pub(crate) fn open<H: DeserializeOwned>(bytes: &[u8]) -> Result<(H, &[u8]), String> {
    let damaged = |what: &str| format!("its file is damaged ({what})");
    let (content, checksum) = bytes.split_last_chunk::<CHECKSUM>().ok_or_else(|| damaged("it is too short"))?;
    if Sha256::digest(content).as_slice() != checksum {
        return Err(damaged("the checksum does not fit"));
    }
    let end = content.iter().position(|byte| *byte == b'\n').ok_or_else(|| damaged("there is no header"))?;
    let header = serde_json::from_slice(&content[..end]).map_err(|error| damaged(&error.to_string()))?;
    Ok((header, &content[end + 1..]))
}

/// Returns the checksum that identifies a file.
pub(crate) fn fingerprint(bytes: &[u8]) -> String {
    let checksum = bytes.split_last_chunk::<CHECKSUM>().map_or(&[][..], |(_, checksum)| checksum);
    checksum.iter().map(|byte| format!("{byte:02x}")).collect()
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn a_file_opens_as_it_was_sealed_and_not_after_a_change() {
        let file = seal(&["header"], [b'\n', 0, 255].into_iter()).unwrap();
        let (header, numbers): (Vec<String>, _) = open(&file).unwrap();
        assert_eq!((header[0].as_str(), numbers), ("header", &[b'\n', 0, 255][..]));
        for place in 0..file.len() {
            let mut changed = file.clone();
            changed[place] ^= 4;
            assert!(open::<Vec<String>>(&changed).unwrap_err().contains("checksum"), "{place}");
        }
        assert!(open::<Vec<String>>(&file[..31]).unwrap_err().contains("too short"));
        assert!(open::<u8>(&file).unwrap_err().contains("damaged"));
        assert_eq!(fingerprint(&file).len(), 64);
    }
}
