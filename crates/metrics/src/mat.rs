//! Reads numbers, text and cell arrays from MATLAB version 5 files, as far as models and datasets
//! need them. Damaged files cause errors; nothing is read out of bounds.

/// The result of reading a file. The error describes what is wrong with the file.
pub type Result<T> = std::result::Result<T, String>;

/// A value in a MATLAB file.
#[derive(Debug, Clone, PartialEq)]
pub enum Value {
    /// A matrix of numbers.
    Numbers(Numbers),
    /// Text, one string per row of characters.
    Text(Vec<String>),
    /// A cell array.
    Cells(Vec<Value>),
    /// A class that this reader does not support.
    Other,
}

/// A matrix of numbers, stored column by column as in MATLAB.
#[derive(Debug, Clone, PartialEq)]
pub struct Numbers {
    /// Number of rows.
    pub rows: usize,
    /// Number of columns.
    pub columns: usize,
    /// The numbers, one column after another.
    pub data: Vec<f64>,
}

const HEADER: usize = 128;
const MATRIX: u32 = 14;
const COMPRESSED: u32 = 15;
const CELL: u8 = 1;
const CHARACTERS: u8 = 4;
const NUMERIC: std::ops::RangeInclusive<u8> = 6..=15;
/// Maximum nesting of cell arrays, so that a crafted file cannot exhaust the stack.
const DEPTH: usize = 8;
/// Maximum size in bytes of a decompressed variable.
const UNPACKED_LIMIT: usize = 256 << 20;

/// Returns the named variables of a file.
pub fn variables(bytes: &[u8]) -> Result<Vec<(String, Value)>> {
    let header = bytes.get(..HEADER).ok_or("it is too short for a MATLAB file")?;
    if header.get(124..128) != Some(&[0x00, 0x01, b'I', b'M']) {
        return Err("it is not a little-endian MATLAB version 5 file".into());
    }
    let mut rest = bytes.get(HEADER..).unwrap_or_default();
    let mut variables = Vec::new();
    while !rest.is_empty() {
        let (kind, data, after) = element(rest)?;
        rest = after;
        if kind == COMPRESSED {
            let unpacked = miniz_oxide::inflate::decompress_to_vec_zlib_with_limit(data, UNPACKED_LIMIT)
                .map_err(|error| format!("a compressed variable is damaged ({:?})", error.status))?;
            let (kind, data, _) = element(&unpacked)?;
            if kind == MATRIX {
                variables.push(matrix(data, 0)?);
            }
        } else if kind == MATRIX {
            variables.push(matrix(data, 0)?);
        }
    }
    Ok(variables)
}

/// Splits `bytes` after its first element. Returns kind and data of the element, and the remaining
/// bytes.
fn element(bytes: &[u8]) -> Result<(u32, &[u8], &[u8])> {
    let cut = || "it ends in the middle of an element".to_string();
    let word = |at: usize| bytes.get(at..at + 4).and_then(|word| word.try_into().ok()).map(u32::from_le_bytes);
    let first = word(0).ok_or_else(cut)?;
    if first >> 16 != 0 {
        // The short form: size and kind in one word, the data in the next.
        let data = bytes.get(4..4 + (first >> 16) as usize).ok_or_else(cut)?;
        let after = bytes.get(8..).ok_or_else(cut)?;
        return Ok((first & 0xffff, data, after));
    }
    let size = word(4).ok_or_else(cut)? as usize;
    let data = bytes.get(8..).and_then(|rest| rest.get(..size)).ok_or_else(cut)?;
    // Elements start at multiples of 8, except compressed elements. The padding of the last
    // element may be missing.
    let padded = if first == COMPRESSED { size } else { size.next_multiple_of(8) };
    let after = bytes.get(8 + padded..).unwrap_or_default();
    Ok((first, data, after))
}

/// Returns name and value of a matrix element.
fn matrix(bytes: &[u8], depth: usize) -> Result<(String, Value)> {
    if depth > DEPTH {
        return Err("its cells are nested too deeply".into());
    }
    let (_, flags, rest) = element(bytes)?;
    let class = *flags.first().ok_or("an array has no class")?;
    let (_, dimensions, rest) = element(rest)?;
    let sizes: Vec<usize> = dimensions
        .chunks_exact(4)
        .map(|size| size.try_into().map_or(0, |size| u32::from_le_bytes(size) as usize))
        .collect();
    let (_, name, mut rest) = element(rest)?;
    let name = String::from_utf8_lossy(name).into_owned();
    let count = sizes.iter().try_fold(1usize, |count, &size| count.checked_mul(size)).ok_or("an array is too large")?;
    if class == CELL {
        let mut cells = Vec::new();
        for _ in 0..count {
            let (_, data, after) = element(rest)?;
            rest = after;
            cells.push(matrix(data, depth + 1)?.1);
        }
        return Ok((name, Value::Cells(cells)));
    }
    let rows = sizes.first().copied().unwrap_or(0);
    if class == CHARACTERS {
        return Ok((name, Value::Text(text(rest, rows, count)?)));
    }
    if !NUMERIC.contains(&class) {
        return Ok((name, Value::Other));
    }
    let (kind, data, _) = element(rest)?;
    let data = numbers(kind, data)?;
    if data.len() != count || rows == 0 {
        return Err(format!("an array of {count} numbers has {}", data.len()));
    }
    Ok((name, Value::Numbers(Numbers { rows, columns: count / rows, data })))
}

/// Returns the rows of a character matrix, which is stored column by column. Trailing blanks are
/// removed.
fn text(bytes: &[u8], rows: usize, count: usize) -> Result<Vec<String>> {
    if count == 0 {
        return Ok(vec![String::new()]);
    }
    let (kind, data, _) = element(bytes)?;
    const UTF8: u32 = 16;
    let units: Vec<u16> = match kind {
        UTF8 => String::from_utf8_lossy(data).encode_utf16().collect(),
        1 | 2 => data.iter().map(|byte| u16::from(*byte)).collect(),
        4 | 17 => data.chunks_exact(2).map(|pair| u16::from_le_bytes([pair[0], pair[1]])).collect(),
        _ => return Err(format!("text is stored in an unknown way ({kind})")),
    };
    if units.len() != count || rows == 0 {
        return Err(format!("a text of {count} characters has {}", units.len()));
    }
    let row = |row: usize| -> Vec<u16> { units.iter().skip(row).step_by(rows).copied().collect() };
    Ok((0..rows).map(|number| String::from_utf16_lossy(&row(number)).trim_end().to_owned()).collect())
}

/// Reads numbers of any stored type: MATLAB stores integers in as few bytes as possible.
fn numbers(kind: u32, data: &[u8]) -> Result<Vec<f64>> {
    macro_rules! read {
        ($type:ty) => {
            data.chunks_exact(size_of::<$type>())
                .map(|bytes| bytes.try_into().map_or(f64::NAN, |bytes| <$type>::from_le_bytes(bytes) as f64))
                .collect()
        };
    }
    Ok(match kind {
        1 => read!(i8),
        2 => read!(u8),
        3 => read!(i16),
        4 => read!(u16),
        5 => read!(i32),
        6 => read!(u32),
        7 => read!(f32),
        9 => read!(f64),
        12 => read!(i64),
        13 => read!(u64),
        _ => return Err(format!("numbers are stored in an unknown way ({kind})")),
    })
}

#[cfg(test)]
pub(crate) mod tests {
    use super::*;
    use proptest::prelude::*;

    /// Encodes an element in its long form.
    pub fn encode(kind: u32, data: &[u8]) -> Vec<u8> {
        let mut bytes = [kind.to_le_bytes(), (data.len() as u32).to_le_bytes()].concat();
        bytes.extend(data);
        bytes.resize(bytes.len().next_multiple_of(8), 0);
        bytes
    }

    /// Encodes a matrix element.
    pub fn encode_matrix(class: u8, rows: u32, columns: u32, name: &str, contents: &[u8]) -> Vec<u8> {
        let dimensions = [rows.to_le_bytes(), columns.to_le_bytes()].concat();
        let flags = encode(6, &[class, 0, 0, 0, 0, 0, 0, 0]);
        encode(MATRIX, &[flags, encode(5, &dimensions), encode(1, name.as_bytes()), contents.to_vec()].concat())
    }

    /// Encodes the numbers of a matrix element as doubles.
    pub fn encode_doubles(data: &[f64]) -> Vec<u8> {
        encode(9, &data.iter().flat_map(|value| value.to_le_bytes()).collect::<Vec<_>>())
    }

    /// Encodes a file with one variable, compressed as by MATLAB.
    pub fn encode_file(variable: &[u8]) -> Vec<u8> {
        let mut file = vec![b' '; 124];
        file.extend([0x00, 0x01, b'I', b'M']);
        let packed = miniz_oxide::deflate::compress_to_vec_zlib(variable, 6);
        file.extend([COMPRESSED.to_le_bytes(), (packed.len() as u32).to_le_bytes()].concat());
        file.extend(packed);
        file
    }

    fn example() -> Vec<u8> {
        let doubles = encode_matrix(6, 2, 3, "", &encode_doubles(&[1.0, 2.0, 3.0, 4.0, 5.0, 6.5]));
        // Integers in the short form: kind 2 (bytes), three of them.
        let short = encode_matrix(6, 3, 1, "", &[2, 0, 3, 0, 7, 8, 9, 0]);
        let mut file = encode_file(&encode_matrix(CELL, 1, 2, "model", &[doubles, short].concat()));
        file.extend(encode_matrix(4, 1, 1, "text", &encode(4, &[65, 0])));
        file
    }

    #[test]
    fn cells_of_doubles_and_of_short_numbers_are_read() {
        let read = variables(&example()).unwrap();
        let doubles = Numbers { rows: 2, columns: 3, data: vec![1.0, 2.0, 3.0, 4.0, 5.0, 6.5] };
        let short = Numbers { rows: 3, columns: 1, data: vec![7.0, 8.0, 9.0] };
        let cells = Value::Cells(vec![Value::Numbers(doubles), Value::Numbers(short)]);
        assert_eq!(read, [("model".to_string(), cells), ("text".to_string(), Value::Text(vec!["A".into()]))]);
    }

    #[test]
    fn cells_of_text_are_read_in_every_encoding() {
        let wide: Vec<u8> = "t1.bmp".encode_utf16().flat_map(u16::to_le_bytes).collect();
        let cells = [
            encode_matrix(CHARACTERS, 1, 6, "", &encode(4, &wide)),
            encode_matrix(CHARACTERS, 1, 6, "", &encode(16, b"t2.bmp")),
            encode_matrix(CHARACTERS, 0, 0, "", &[]),
            // Two rows, column by column; the second row is padded with a blank.
            encode_matrix(CHARACTERS, 2, 3, "", &encode(2, b"acbdc ")),
        ];
        let file = encode_file(&encode_matrix(CELL, 4, 1, "names", &cells.concat()));
        let text = |rows: &[&str]| Value::Text(rows.iter().map(|row| (*row).to_owned()).collect());
        let wanted = Value::Cells(vec![text(&["t1.bmp"]), text(&["t2.bmp"]), text(&[""]), text(&["abc", "cd"])]);
        assert_eq!(variables(&file).unwrap(), [("names".to_owned(), wanted)]);
    }

    #[test]
    fn other_files_are_refused_with_a_reason() {
        assert!(variables(b"").unwrap_err().contains("too short"));
        assert!(variables(&[0; 200]).unwrap_err().contains("version 5"));
    }

    proptest! {
        #[test]
        fn truncated_and_damaged_files_are_read_or_refused(cut in 0usize..600, at in 0usize..600, value: u8) {
            let mut file = example();
            file.truncate(cut);
            if let Some(byte) = file.get_mut(at) {
                *byte = value;
            }
            let _ = variables(&file);
        }

        #[test]
        fn any_bytes_are_read_or_refused(bytes in prop::collection::vec(any::<u8>(), 0..300)) {
            let mut file = example()[..128].to_vec();
            file.extend(&bytes);
            let _ = variables(&file);
        }
    }
}
