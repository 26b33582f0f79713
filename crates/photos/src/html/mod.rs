//! Pages that show photos, complete in one file.

mod review;

use std::io::{self, Write};
use std::path::{Path, PathBuf};

use agenticiqa_imaging::{Decoder, encode_jpeg, shrink};
use base64::Engine as _;
use base64::engine::general_purpose::STANDARD;
use rayon::prelude::*;

use crate::ranking::{Ranking, Row};

pub use review::review;

/// Longer side of a thumbnail, in pixels.
const THUMBNAIL: usize = 320;
/// Quality of its JPEG file.
const QUALITY: u8 = 72;
/// Thumbnails are made for this many photos at a time, so that memory is bounded.
const TOGETHER: usize = 16;

const STYLE: &str = "\
:root{color-scheme:light dark;--line:#8884;--keep:#1a7f37;--reject:#b3261e;--unsure:#9a6700}
body{font:15px/1.45 system-ui,sans-serif;margin:2rem auto;max-width:1500px;padding:0 1rem}
h1{font-size:1.5rem;margin:0 0 .3rem}h2{font-size:1rem;margin:1.6rem 0 .5rem}
.photos{display:grid;grid-template-columns:repeat(auto-fill,minmax(230px,1fr));gap:14px;padding:0;margin:0;list-style:none}
.photos li{border:1px solid var(--line);border-radius:8px;overflow:hidden}
.photos img{display:block;width:100%;height:190px;object-fit:contain;background:#8881}
.photos .none{height:190px;display:grid;place-items:center;background:#8881}
.text{padding:.5rem .7rem}.name{font-size:.85rem;overflow-wrap:anywhere;opacity:.75}
.score{font-weight:600}.bar{height:5px;border-radius:3px;background:#8883;margin:.25rem 0}
.bar i{display:block;height:100%;border-radius:3px;background:currentColor;opacity:.75}
.keep{border-color:var(--keep)!important;border-width:2px!important}.keep b{color:var(--keep)}
.reject b{color:var(--reject)}.reject img{opacity:.6}.unsure b{color:var(--unsure)}";

/// Writes a page of a ranking. `path` returns the file of a row; thumbnails are in the page.
pub fn ranking(
    out: &mut impl Write,
    ranking: &Ranking,
    total: usize,
    decoder: &Decoder,
    path: &(dyn Fn(&Row) -> PathBuf + Sync),
) -> io::Result<()> {
    start(out, "Photos, best first")?;
    let shown = ranking.rows.len();
    writeln!(
        out,
        "<p>{shown} of {total} photos. Photos that share a rank cannot be told apart: their 90% intervals overlap that \
         of the best of the rank.</p><ol class=\"photos\">"
    )?;
    for rows in ranking.rows.chunks(TOGETHER) {
        let images: Vec<Option<String>> = rows.par_iter().map(|row| thumbnail(&path(row), decoder)).collect();
        for (row, image) in rows.iter().zip(images) {
            let rank = row.rank.map(|rank| format!("{rank}{}", if row.sharing > 1 { " (shared)" } else { "" }));
            let score = row.score.map(|score| score_of(score, row.interval)).unwrap_or_default();
            writeln!(
                out,
                "<li>{}<div class=\"text\"><span class=\"score\">{} · {score}</span>{}<div>{}</div><div \
                 class=\"name\">{}</div></div></li>",
                picture(image, &row.image_path),
                rank.unwrap_or_default(),
                row.score.map(bar).unwrap_or_default(),
                escape(row.main_reason.as_deref().unwrap_or_default()),
                escape(&row.image_path),
            )?;
        }
    }
    writeln!(out, "</ol>")?;
    let failed: Vec<(String, String)> =
        ranking.failed.iter().map(|(path, failure)| (path.display().to_string(), failure.to_string())).collect();
    unusable(out, &failed)?;
    writeln!(out, "</body></html>")
}

fn start(out: &mut impl Write, title: &str) -> io::Result<()> {
    writeln!(
        out,
        "<!doctype html><html lang=\"en\"><head><meta charset=\"utf-8\"><meta name=\"viewport\" \
         content=\"width=device-width\"><title>{title}</title><style>{STYLE}</style></head><body><h1>{title}</h1>"
    )
}

fn unusable(out: &mut impl Write, failed: &[(String, String)]) -> io::Result<()> {
    if failed.is_empty() {
        return Ok(());
    }
    writeln!(out, "<h2>Cannot be used</h2><ul>")?;
    for (name, reason) in failed {
        writeln!(out, "<li>{}: {}</li>", escape(name), escape(reason))?;
    }
    writeln!(out, "</ul>")
}

fn score_of(score: f64, interval: Option<[f64; 2]>) -> String {
    let interval = interval.map(|[low, high]| format!(" ({low:.1}–{high:.1})")).unwrap_or_default();
    format!("{score:.2}{interval}")
}

fn bar(score: f64) -> String {
    format!("<div class=\"bar\"><i style=\"width:{:.0}%\"></i></div>", (score - 1.0) / 4.0 * 100.0)
}

fn picture(image: Option<String>, name: &str) -> String {
    match image {
        Some(data) => format!("<img alt=\"{}\" src=\"data:image/jpeg;base64,{data}\">", escape(name)),
        None => "<div class=\"none\">no preview</div>".to_owned(),
    }
}

/// Returns a small JPEG of a photo as base64.
fn thumbnail(path: &Path, decoder: &Decoder) -> Option<String> {
    let picture = decoder.open(path).ok()?;
    let small = shrink(&picture.image, THUMBNAIL).ok()?;
    Some(STANDARD.encode(encode_jpeg(&small, QUALITY).ok()?))
}

/// Escapes a text for HTML.
fn escape(text: &str) -> String {
    let mut escaped = String::with_capacity(text.len());
    for character in text.chars() {
        match character {
            '&' => escaped.push_str("&amp;"),
            '<' => escaped.push_str("&lt;"),
            '>' => escaped.push_str("&gt;"),
            '"' => escaped.push_str("&quot;"),
            '\'' => escaped.push_str("&#39;"),
            other => escaped.push(other),
        }
    }
    escaped
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn names_cannot_become_markup() {
        assert_eq!(escape("a<b>&\"'.jpg"), "a&lt;b&gt;&amp;&quot;&#39;.jpg");
        assert_eq!(picture(None, "x"), "<div class=\"none\">no preview</div>");
    }
}
