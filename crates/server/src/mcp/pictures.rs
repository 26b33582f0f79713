//! Images in tool arguments: a path, a `file://` URI, or the contents of a file in base64.

use base64::Engine as _;
use base64::alphabet;
use base64::engine::{DecodePaddingMode, GeneralPurpose, GeneralPurposeConfig};
use bytes::Bytes;
use rmcp::RoleServer;
use rmcp::service::RequestContext;

use super::Service;
use super::access::file_path;
use crate::error::Problem;
use crate::sources::RequestImage;

const BASE64: GeneralPurpose = GeneralPurpose::new(
    &alphabet::STANDARD,
    GeneralPurposeConfig::new().with_decode_padding_mode(DecodePaddingMode::Indifferent),
);

/// The first characters of image files in base64: PNG, JPEG, GIF, WebP, BMP, TIFF (both byte
/// orders), AVIF.
const BEGINNINGS: [&str; 8] = ["iVBORw0KGgo", "/9j/", "R0lGOD", "UklGR", "Qk", "SUkq", "TU0AK", "AAAA"];
/// The minimum length of an image file in base64.
const SHORTEST: usize = 64;

/// The meaning of an argument.
#[derive(Debug, PartialEq, Eq)]
enum Meaning<'a> {
    /// A path.
    Path(String),
    /// Bytes in base64, and a file extension.
    Bytes(&'a str, &'a str),
}

impl Service {
    /// Reads the image of an argument. `name` is used for images without a name.
    pub(super) async fn picture(
        &self,
        context: &RequestContext<RoleServer>,
        field: &str,
        text: &str,
        name: &str,
    ) -> Result<RequestImage, Problem> {
        let path = match meaning(field, text)? {
            Meaning::Path(path) => path,
            Meaning::Bytes(encoded, ending) => {
                let (encoded, name) = (encoded.to_owned(), format!("{name}{ending}"));
                let decoded = tokio::task::spawn_blocking(move || decode(&encoded)).await?;
                let bytes = decoded.map_err(|reason| Problem::picture(format!("{field}: {reason}")))?;
                return Ok(RequestImage::Sent { name, bytes });
            }
        };
        let Some(allowed) = self.access.allowed(context).await? else { return Ok(RequestImage::Path(path)) };
        let (app, field) = (self.app.clone(), field.to_owned());
        let read = move || {
            let real = allowed.roots.resolve(&field, &path)?;
            let bytes = app.read_file(&field, &real)?.into();
            Ok(RequestImage::Sent { name: path, bytes })
        };
        tokio::task::spawn_blocking(read).await?
    }

    /// Reads the reference image, if there is one.
    pub(super) async fn reference(
        &self,
        context: &RequestContext<RoleServer>,
        text: Option<&str>,
    ) -> Result<Option<RequestImage>, Problem> {
        match text.filter(|text| !text.trim().is_empty()) {
            Some(text) => self.picture(context, "reference", text, "reference").await.map(Some),
            None => Ok(None),
        }
    }
}

/// Returns the name of an image in results.
pub fn name_of(image: &RequestImage) -> String {
    match image {
        RequestImage::Sent { name, .. } => name.clone(),
        RequestImage::Path(path) => path.clone(),
        RequestImage::Id(id) => id.clone(),
    }
}

fn meaning<'a>(field: &str, text: &'a str) -> Result<Meaning<'a>, Problem> {
    let text = text.trim();
    let scheme = text.split_once(':').map(|(scheme, rest)| (scheme.to_ascii_lowercase(), rest));
    match scheme.as_ref().map(|(scheme, rest)| (scheme.as_str(), *rest)) {
        Some(("data", rest)) => match rest.split_once(',') {
            Some((kind, bytes)) if kind.to_ascii_lowercase().ends_with(";base64") => {
                Ok(Meaning::Bytes(bytes, ending(kind)))
            }
            _ => Err(Problem::invalid(format!("{field}: write data as `data:image/png;base64,...`"))),
        },
        Some(("file", _)) => {
            let path = file_path(text).map(|path| path.display().to_string());
            path.map(Meaning::Path).ok_or_else(|| Problem::invalid(format!("{field}: not a valid file URI")))
        }
        Some(("http" | "https" | "ftp", _)) => Err(Problem::invalid(format!(
            "{field}: URLs are not downloaded: save the image in an allowed folder and pass its path, or pass its contents \
             in base64"
        ))),
        _ if is_base64(text) => Ok(Meaning::Bytes(text, "")),
        _ => Ok(Meaning::Path(text.to_owned())),
    }
}

/// Returns the file extension of a media type.
fn ending(kind: &str) -> &'static str {
    match kind.split(';').next().unwrap_or_default().to_ascii_lowercase().as_str() {
        "image/png" => ".png",
        "image/jpeg" | "image/jpg" => ".jpg",
        "image/webp" => ".webp",
        "image/gif" => ".gif",
        "image/bmp" => ".bmp",
        "image/tiff" => ".tif",
        "image/avif" => ".avif",
        _ => "",
    }
}

/// Returns whether a text is an image file in base64. File names contain a dot, which base64 does
/// not.
fn is_base64(text: &str) -> bool {
    let letter = |byte: u8| byte.is_ascii_alphanumeric() || matches!(byte, b'+' | b'/' | b'=' | b'\n' | b'\r');
    text.len() >= SHORTEST && BEGINNINGS.iter().any(|start| text.starts_with(start)) && text.bytes().all(letter)
}

fn decode(encoded: &str) -> Result<Bytes, String> {
    let letters: Vec<u8> = encoded.bytes().filter(|byte| !byte.is_ascii_whitespace()).collect();
    if letters.is_empty() {
        return Err("no data after `base64,`".to_owned());
    }
    BASE64.decode(letters).map(Bytes::from).map_err(|error| format!("not base64: {error}"))
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn paths_addresses_and_bytes_are_told_apart() {
        let path = |text: &str| Ok::<_, String>(Meaning::Path(text.to_owned()));
        let told = |text| meaning("image", text).map_err(|problem| problem.to_string());
        assert_eq!(told(" photos/a.jpg "), path("photos/a.jpg"));
        assert_eq!(told("C:\\photos\\a.jpg"), path("C:\\photos\\a.jpg"));
        assert_eq!(told("file:///tmp/a%20b.png"), path("/tmp/a b.png"));
        assert_eq!(told("/9j/a.jpg"), path("/9j/a.jpg"));
        assert_eq!(told("data:image/png;base64,AAAA"), Ok(Meaning::Bytes("AAAA", ".png")));
        let jpeg = format!("/9j/{}", "A".repeat(100));
        assert_eq!(told(&jpeg), Ok(Meaning::Bytes(jpeg.as_str(), "")));
        let long = format!("/9j/{}.jpg", "A".repeat(100));
        assert_eq!(told(&long), path(&long));
        assert!(told("https://example.org/a.png").unwrap_err().contains("URLs are not downloaded"));
        assert!(told("data:image/png,abc").unwrap_err().contains("base64"));
    }

    #[test]
    fn base64_is_read_with_and_without_padding_and_line_breaks() {
        assert_eq!(decode("aGVs\r\nbG8=").unwrap(), "hello");
        assert_eq!(decode("aGVsbG8").unwrap(), "hello");
        assert!(decode("aGV*").unwrap_err().contains("not base64"));
        assert!(decode(" ").unwrap_err().contains("no data"));
    }
}
