//! Dataset files for tests: folders, MATLAB files, workbooks.

use std::io::Write;
use std::path::Path;

use tempfile::TempDir;

use super::{Options, Prepared, prepare};

/// A folder with files. Images are a few bytes, because nothing is decoded.
pub struct Folder(TempDir);

impl Folder {
    pub fn new() -> Self {
        Self(tempfile::tempdir().unwrap())
    }

    pub fn path(&self) -> &Path {
        self.0.path()
    }

    pub fn file(&self, name: &str, content: impl AsRef<[u8]>) -> &Self {
        let path = self.path().join(name);
        std::fs::create_dir_all(path.parent().unwrap()).unwrap();
        std::fs::write(path, content).unwrap();
        self
    }

    pub fn pictures(&self, names: &[&str]) -> &Self {
        names.iter().for_each(|name| {
            self.file(name, "pixels");
        });
        self
    }

    pub fn prepare(&self, name: &str) -> Prepared {
        prepare(name, self.path(), &Options::default()).unwrap()
    }

    pub fn refused(&self, name: &str) -> String {
        prepare(name, self.path(), &Options::default()).unwrap_err().to_string()
    }
}

/// Builds an uncompressed MATLAB file with variables.
pub fn mat(variables: &[(&str, Mat)]) -> Vec<u8> {
    let mut file = vec![b' '; 124];
    file.extend([0x00, 0x01, b'I', b'M']);
    variables.iter().for_each(|(name, value)| file.extend(value.encode(name)));
    file
}

/// A value of a MATLAB file.
pub enum Mat {
    /// Numbers in a row.
    Row(Vec<f64>),
    /// Cells of text.
    Names(Vec<&'static str>),
}

impl Mat {
    fn encode(&self, name: &str) -> Vec<u8> {
        match self {
            Self::Row(numbers) => {
                let data: Vec<u8> = numbers.iter().flat_map(|number| number.to_le_bytes()).collect();
                matrix(6, numbers.len(), name, &element(9, &data))
            }
            Self::Names(names) => {
                let text = |name: &&str| {
                    let wide: Vec<u8> = name.encode_utf16().flat_map(u16::to_le_bytes).collect();
                    matrix(4, name.len(), "", &element(4, &wide))
                };
                matrix(1, names.len(), name, &names.iter().flat_map(text).collect::<Vec<u8>>())
            }
        }
    }
}

fn element(kind: u32, data: &[u8]) -> Vec<u8> {
    let mut bytes = [kind.to_le_bytes(), (data.len() as u32).to_le_bytes()].concat();
    bytes.extend(data);
    bytes.resize(bytes.len().next_multiple_of(8), 0);
    bytes
}

fn matrix(class: u8, columns: usize, name: &str, contents: &[u8]) -> Vec<u8> {
    let sizes = [1u32.to_le_bytes(), (columns as u32).to_le_bytes()].concat();
    let flags = element(6, &[class, 0, 0, 0, 0, 0, 0, 0]);
    element(14, &[flags, element(5, &sizes), element(1, name.as_bytes()), contents.to_vec()].concat())
}

/// Builds a workbook with one sheet. Numeric cells are stored as numbers.
pub fn workbook(sheet: &str, rows: &[&[&str]]) -> Vec<u8> {
    let cell = |row: usize, column: usize, text: &str| {
        let place = format!("{}{}", char::from(b'A' + column as u8), row + 1);
        match text.parse::<f64>() {
            Ok(_) => format!(r#"<c r="{place}"><v>{text}</v></c>"#),
            Err(_) if text.is_empty() => String::new(),
            Err(_) => format!(r#"<c r="{place}" t="inlineStr"><is><t>{text}</t></is></c>"#),
        }
    };
    let row = |(number, cells): (usize, &&[&str])| {
        let cells: String = cells.iter().enumerate().map(|(column, text)| cell(number, column, text)).collect();
        format!(r#"<row r="{}">{cells}</row>"#, number + 1)
    };
    let data: String = rows.iter().enumerate().map(row).collect();
    let main = "http://schemas.openxmlformats.org/spreadsheetml/2006/main";
    let relations = "http://schemas.openxmlformats.org/package/2006/relationships";
    let office = "http://schemas.openxmlformats.org/officeDocument/2006/relationships";
    let parts = [
        (
            "[Content_Types].xml",
            r#"<Types xmlns="http://schemas.openxmlformats.org/package/2006/content-types"></Types>"#.to_owned(),
        ),
        (
            "_rels/.rels",
            format!(
                r#"<Relationships xmlns="{relations}"><Relationship Id="rId1" Type="{office}/officeDocument" Target="xl/workbook.xml"/></Relationships>"#
            ),
        ),
        (
            "xl/workbook.xml",
            format!(
                r#"<workbook xmlns="{main}" xmlns:r="{office}"><sheets><sheet name="{sheet}" sheetId="1" r:id="rId1"/></sheets></workbook>"#
            ),
        ),
        (
            "xl/_rels/workbook.xml.rels",
            format!(
                r#"<Relationships xmlns="{relations}"><Relationship Id="rId1" Type="{office}/worksheet" Target="worksheets/sheet1.xml"/></Relationships>"#
            ),
        ),
        ("xl/worksheets/sheet1.xml", format!(r#"<worksheet xmlns="{main}"><sheetData>{data}</sheetData></worksheet>"#)),
    ];
    let mut zip = zip::ZipWriter::new(std::io::Cursor::new(Vec::new()));
    for (name, content) in parts {
        zip.start_file(name, zip::write::SimpleFileOptions::default()).unwrap();
        zip.write_all(content.as_bytes()).unwrap();
    }
    zip.finish().unwrap().into_inner()
}
