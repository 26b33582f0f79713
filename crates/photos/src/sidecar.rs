//! XMP sidecars: ratings that Lightroom, digiKam, darktable and others read.
//!
//! An existing sidecar is edited by offsets: what is added goes before the end of its `rdf:RDF`, and a rating
//! of 0, which means none, is replaced. Every other byte stays. A rating, label or description
//! that is there already stays too: a person gave it. What is not XMP is refused.

use std::fmt::Write as _;
use std::ops::Range;

use quick_xml::events::{BytesStart, Event};
use quick_xml::name::{Namespace, ResolveResult};
use quick_xml::reader::NsReader;
use serde::{Deserialize, Serialize};

const RDF: &str = "http://www.w3.org/1999/02/22-rdf-syntax-ns#";
const XMP: &str = "http://ns.adobe.com/xap/1.0/";
const DC: &str = "http://purl.org/dc/elements/1.1/";
const META: &str = "adobe:ns:meta/";
/// Sidecars with a long history of edits stay far below this.
const LARGEST: usize = 64 << 20;
/// Elements are not nested deeper than this.
const DEEPEST: usize = 200;

/// What is written about a photo.
#[derive(Debug, Clone, PartialEq, Eq, Serialize, Deserialize)]
pub struct Mark {
    /// -1 for a rejected photo, 0 for none, 1 to 5 stars.
    pub rating: i8,
    /// The color label.
    pub label: String,
    /// Why.
    pub description: String,
}

/// Why a sidecar cannot be edited.
#[derive(Debug, Clone, PartialEq, Eq, thiserror::Error)]
#[non_exhaustive]
pub enum Refusal {
    /// It is not UTF-8 text.
    #[error("the sidecar is not UTF-8 text")]
    NotText,
    /// It is empty.
    #[error("the sidecar is empty")]
    Empty,
    /// It is not well-formed XML.
    #[error("the sidecar is not XML: {0}")]
    NotXml(String),
    /// It is XML of another kind.
    #[error("the sidecar is not XMP: it has no rdf:RDF in x:xmpmeta")]
    NotXmp,
    /// It has a document type, which XMP never has.
    #[error("the sidecar has a document type definition, which XMP does not allow")]
    DocumentType,
    /// It is larger or deeper than any sidecar.
    #[error("the sidecar is too large")]
    TooLarge,
}

/// The new content of a sidecar.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct Merged {
    /// The content; the old one if nothing is to be written.
    pub content: Vec<u8>,
    /// The rating that is there already and stays, if it differs.
    pub kept: Option<String>,
}

/// Returns a new sidecar.
pub fn create(mark: &Mark) -> Vec<u8> {
    let mut text = String::from("<?xpacket begin=\"\u{feff}\" id=\"W5M0MpCehiHzreSzNTczkc9d\"?>\n");
    text.push_str("<x:xmpmeta xmlns:x=\"adobe:ns:meta/\" x:xmptk=\"AgenticIQA\">\n");
    let _ = writeln!(text, " <rdf:RDF xmlns:rdf=\"{RDF}\">");
    text.push_str(&block("rdf", "", &Parts { rating: true, label: true, description: true }, mark));
    text.push_str(" </rdf:RDF>\n</x:xmpmeta>\n<?xpacket end=\"w\"?>\n");
    text.into_bytes()
}

/// Adds a mark to an existing sidecar.
pub fn merge(existing: &[u8], mark: &Mark) -> Result<Merged, Refusal> {
    if existing.iter().all(u8::is_ascii_whitespace) {
        return Err(Refusal::Empty);
    }
    if existing.len() > LARGEST {
        return Err(Refusal::TooLarge);
    }
    let text = std::str::from_utf8(existing).map_err(|_| Refusal::NotText)?;
    let found = Found::read(text)?;
    let mut edits: Vec<(Range<usize>, String)> = Vec::new();
    let mut kept = None;
    match &found.rating {
        Some((place, old)) if old.trim() == "0" && mark.rating != 0 => {
            edits.push((place.clone(), mark.rating.to_string()));
        }
        Some((_, old)) if old.trim() != mark.rating.to_string() && mark.rating != 0 => {
            kept = Some(old.trim().to_owned());
        }
        _ => {}
    }
    // A person's rating that differs stands alone: a label of ours would contradict it.
    let ours = kept.is_none();
    let parts = Parts {
        rating: found.rating.is_none() && mark.rating != 0,
        label: ours && !found.label,
        description: ours && !found.description,
    };
    if parts.rating || parts.label || parts.description {
        let block = block(&found.prefix, &found.about, &parts, mark);
        edits.push(match found.end {
            End::Tag(at) => {
                let line = text[..at].trim_end_matches([' ', '\t']).len();
                (line..line, block)
            }
            // `<rdf:RDF/>` becomes a pair of tags.
            End::Closed(slash) => (slash.clone(), format!(">\n{block}</{}:RDF>", found.prefix)),
        });
    }
    edits.sort_by_key(|(place, _)| place.start);
    let mut content = Vec::with_capacity(existing.len() + 512);
    let mut at = 0;
    for (place, new) in edits {
        content.extend_from_slice(&existing[at..place.start]);
        content.extend_from_slice(new.as_bytes());
        at = place.end;
    }
    content.extend_from_slice(&existing[at..]);
    Ok(Merged { content, kept })
}

/// The properties that are written.
struct Parts {
    rating: bool,
    label: bool,
    description: bool,
}

/// Returns an `rdf:Description` about the same photo.
fn block(rdf: &str, about: &str, parts: &Parts, mark: &Mark) -> String {
    let mut text = format!("  <{rdf}:Description {rdf}:about=\"{about}\"");
    if parts.rating || parts.label {
        let _ = write!(text, "\n    xmlns:xmp=\"{XMP}\"");
    }
    if parts.rating {
        let _ = write!(text, "\n   xmp:Rating=\"{}\"", mark.rating);
    }
    if parts.label {
        let _ = write!(text, "\n   xmp:Label=\"{}\"", escape(&mark.label));
    }
    if parts.description {
        let _ = write!(
            text,
            "\n    xmlns:dc=\"{DC}\">\n   <dc:description>\n    <{rdf}:Alt>\n     <{rdf}:li xml:lang=\"x-default\">{}</{rdf}:li>\n    \
             </{rdf}:Alt>\n   </dc:description>\n  </{rdf}:Description>\n",
            escape(&mark.description)
        );
    } else {
        text.push_str("/>\n");
    }
    text
}

/// Escapes a text for XML. Characters that XML cannot hold become spaces.
fn escape(text: &str) -> String {
    let allowed = |c: char| if c.is_control() || matches!(c, '\u{fffe}' | '\u{ffff}') { ' ' } else { c };
    let escaped = |c: char| match c {
        '&' => "&amp;".to_owned(),
        '<' => "&lt;".to_owned(),
        '>' => "&gt;".to_owned(),
        '"' => "&quot;".to_owned(),
        other => other.to_string(),
    };
    text.chars().map(allowed).map(escaped).collect()
}

/// Where `rdf:RDF` ends.
#[derive(Debug)]
enum End {
    /// At a tag that begins here.
    Tag(usize),
    /// In an empty element: the place of its `/>`.
    Closed(Range<usize>),
}

/// What a sidecar has.
#[derive(Debug)]
struct Found {
    /// The prefix of RDF.
    prefix: String,
    /// What its first description is about, as it is written.
    about: String,
    end: End,
    /// The place of the rating, and the rating.
    rating: Option<(Range<usize>, String)>,
    label: bool,
    description: bool,
}

/// A property that may be an attribute or an element.
#[derive(Clone, Copy, PartialEq, Eq)]
enum Property {
    Rating,
    Label,
    Description,
}

impl Property {
    fn of(namespace: &ResolveResult<'_>, local: &str) -> Option<Self> {
        let ResolveResult::Bound(Namespace(namespace)) = namespace else { return None };
        match (*namespace, local) {
            (XMP, "Rating") => Some(Self::Rating),
            (XMP, "Label") => Some(Self::Label),
            (DC, "description") => Some(Self::Description),
            _ => None,
        }
    }
}

fn is(namespace: &ResolveResult<'_>, wanted: &str) -> bool {
    matches!(namespace, ResolveResult::Bound(Namespace(namespace)) if *namespace == wanted)
}

impl Found {
    fn read(text: &str) -> Result<Self, Refusal> {
        let start = if text.starts_with('\u{feff}') { 3 } else { 0 };
        let body = &text[start..];
        let mut reader = NsReader::from_str(body);
        reader.config_mut().enable_all_checks(true);
        let (mut depth, mut found) = (0_usize, None::<Self>);
        // Depth of the elements of RDF, and where its end is not known yet.
        let (mut rdf, mut rating_text) = (None::<usize>, None::<usize>);
        let mut roots = 0;
        loop {
            let before = position(reader.buffer_position());
            let event = reader.read_event().map_err(|error| Refusal::NotXml(error.to_string()))?;
            let after = position(reader.buffer_position());
            match &event {
                Event::Eof => break,
                Event::DocType(_) => return Err(Refusal::DocumentType),
                Event::Start(tag) | Event::Empty(tag) => {
                    let empty = matches!(event, Event::Empty(_));
                    depth += 1;
                    if depth > DEEPEST {
                        return Err(Refusal::TooLarge);
                    }
                    roots += usize::from(depth == 1);
                    let resolver = reader.resolver();
                    let (namespace, local) = resolver.resolve_element(tag.name());
                    let local = local.into_inner();
                    let root = depth == 1 && local == "xmpmeta" && (is(&namespace, META));
                    let in_meta = found.is_none() && depth <= 2 && local == "RDF" && is(&namespace, RDF);
                    if in_meta {
                        let prefix = tag.name().prefix().map(|prefix| prefix.into_inner().to_owned());
                        let end = if empty { End::Closed(start + after - 2..start + after) } else { End::Tag(0) };
                        rdf = (!empty).then_some(depth);
                        found = Some(Self {
                            prefix: prefix.ok_or(Refusal::NotXmp)?,
                            about: String::new(),
                            end,
                            rating: None,
                            label: false,
                            description: false,
                        });
                    } else if depth == 1 && !root {
                        return Err(Refusal::NotXmp);
                    }
                    if let (Some(rdf), Some(found)) = (rdf, &mut found) {
                        if depth == rdf + 1 && local == "Description" && is(&namespace, RDF) {
                            found.attributes(tag, resolver, body, start)?;
                        } else if depth == rdf + 2 {
                            match Property::of(&namespace, local) {
                                Some(Property::Rating) if found.rating.is_none() && !empty => rating_text = Some(after),
                                Some(Property::Label) => found.label = true,
                                Some(Property::Description) => found.description = true,
                                _ => {}
                            }
                        }
                    }
                    depth -= usize::from(empty);
                }
                Event::End(_) => {
                    if let Some(from) = rating_text.take()
                        && let Some(found) = &mut found
                    {
                        found.rating = Some((start + from..start + before, body[from..before].to_owned()));
                    }
                    if rdf == Some(depth) {
                        rdf = None;
                        if let Some(found) = &mut found {
                            found.end = End::Tag(start + before);
                        }
                    }
                    depth = depth.saturating_sub(1);
                }
                _ => {}
            }
        }
        if depth > 0 {
            return Err(Refusal::NotXml("it ends within an element".to_owned()));
        }
        match (roots, found) {
            (0, _) => Err(Refusal::NotXml("it has no element".to_owned())),
            (1, Some(found)) => Ok(found),
            _ => Err(Refusal::NotXmp),
        }
    }

    /// Reads the attributes of an `rdf:Description`.
    fn attributes(
        &mut self,
        tag: &BytesStart<'_>,
        resolver: &quick_xml::name::NamespaceResolver,
        body: &str,
        start: usize,
    ) -> Result<(), Refusal> {
        for attribute in tag.attributes() {
            let attribute = attribute.map_err(|error| Refusal::NotXml(error.to_string()))?;
            let (namespace, local) = resolver.resolve_attribute(attribute.key);
            let local = local.into_inner();
            if local == "about" && is(&namespace, RDF) && self.about.is_empty() {
                self.about = attribute.value.replace('"', "&quot;");
            }
            match Property::of(&namespace, local) {
                Some(Property::Rating) => {
                    // The value is a part of the text that is read, so its place follows from its address.
                    let from = attribute.value.as_ptr().addr().wrapping_sub(body.as_ptr().addr());
                    let place = from..from.wrapping_add(attribute.value.len());
                    if body.get(place.clone()) == Some(&attribute.value) {
                        self.rating = Some((start + place.start..start + place.end, attribute.value.into_owned()));
                    }
                }
                Some(Property::Label) => self.label = true,
                Some(Property::Description) => self.description = true,
                None => {}
            }
        }
        Ok(())
    }
}

fn position(at: u64) -> usize {
    usize::try_from(at).unwrap_or(usize::MAX)
}

#[cfg(test)]
mod tests {
    use super::*;

    fn mark(rating: i8) -> Mark {
        Mark { rating, label: "Green".to_owned(), description: "sharper <bird> & \"sky\"\n".to_owned() }
    }

    fn merged(existing: &str, rating: i8) -> String {
        String::from_utf8(merge(existing.as_bytes(), &mark(rating)).unwrap().content).unwrap()
    }

    /// Removes what was added, to see that nothing else changed.
    fn without(text: &str, added: &str) -> String {
        let at = text.find(added).unwrap();
        format!("{}{}", &text[..at], &text[at + added.len()..])
    }

    const DARKTABLE: &str = "\u{feff}<?xml version=\"1.0\" encoding=\"UTF-8\"?>\r\n<x:xmpmeta xmlns:x='adobe:ns:meta/' >\n \
        <rdf:RDF xmlns:rdf=\"http://www.w3.org/1999/02/22-rdf-syntax-ns#\">\n  <rdf:Description rdf:about='uuid:1'\n    \
        xmlns:darktable='http://darktable.sf.net/' xmlns:xmp=\"http://ns.adobe.com/xap/1.0/\" xmp:Rating = '0'\n   \
        darktable:history_end=\"3\"><darktable:history>  <rdf:Seq><!-- kept -->\t</rdf:Seq></darktable:history>\n  \
        </rdf:Description>\n </rdf:RDF>\n</x:xmpmeta>\n<!-- the end -->";

    #[test]
    fn a_new_sidecar_is_read_again_and_has_nothing_to_add() {
        let new = create(&mark(4));
        let again = merge(&new, &mark(4)).unwrap();
        assert_eq!((again.content, again.kept), (new.clone(), None));
        let text = String::from_utf8(new).unwrap();
        assert!(text.contains("xmp:Rating=\"4\"") && text.contains("sharper &lt;bird&gt; &amp; &quot;sky&quot; "));
    }

    #[test]
    fn other_fields_keep_every_byte() {
        let text = merged(DARKTABLE, -1);
        assert!(text.contains("xmp:Rating = '-1'\n"));
        let added = &text[text.rfind("  <rdf:Description").unwrap()..text.find(" </rdf:RDF>").map_or(0, |at| at)];
        let added = added.to_owned();
        assert!(added.contains("rdf:about=\"uuid:1\"") && added.contains("xmp:Label=\"Green\""), "{added}");
        let before = without(&text, &added).replace("xmp:Rating = '-1'", "xmp:Rating = '0'");
        assert_eq!(before, DARKTABLE);
        assert_eq!(merged(&text, -1), text, "a second time there is nothing to do");
    }

    #[test]
    fn ratings_as_elements_and_other_prefixes_are_understood() {
        let sidecar = |rating: &str| {
            format!(
                "<r:RDF xmlns:r=\"{RDF}\"><r:Description r:about=\"\" xmlns:x1=\"{XMP}\"><x1:Rating>{rating}</x1:Rating>\
                 </r:Description></r:RDF>"
            )
        };
        assert!(merged(&sidecar("0"), 5).contains("<x1:Rating>5</x1:Rating>"));
        assert!(merged(&sidecar("0"), 5).contains("<r:Description r:about=\"\"\n    xmlns:xmp="));
        let given = merge(sidecar("3").as_bytes(), &mark(-1)).unwrap();
        assert_eq!((given.content, given.kept), (sidecar("3").into_bytes(), Some("3".to_owned())));
        // Another namespace with the prefix of XMP is somebody else's.
        let other =
            format!("<r:RDF xmlns:r=\"{RDF}\"><r:Description xmlns:xmp=\"urn:other\" xmp:Rating=\"0\"/></r:RDF>");
        let text = merged(&other, 2);
        assert!(text.contains("xmp:Rating=\"0\"/>") && text.contains("xmp:Rating=\"2\""), "{text}");
        let empty = format!("<x:xmpmeta xmlns:x=\"{META}\"><rdf:RDF xmlns:rdf=\"{RDF}\"/></x:xmpmeta>");
        assert!(merged(&empty, 2).ends_with("</rdf:RDF></x:xmpmeta>"), "{}", merged(&empty, 2));
        assert_eq!(merged(&merged(&empty, 2), 2), merged(&empty, 2));
    }

    #[test]
    fn what_is_not_xmp_is_refused_with_the_reason() {
        let refused = |content: &[u8]| merge(content, &mark(1)).unwrap_err().to_string();
        assert!(refused(b" \n").contains("empty"));
        assert!(refused(b"hello").contains("not XML"));
        assert!(refused(b"<a><b></a>").contains("not XML") || refused(b"<a><b></a>").contains("not XMP"));
        assert!(refused(b"\xff\xfe<\0").contains("UTF-8"));
        assert!(refused(b"<settings><Rating>3</Rating></settings>").contains("not XMP"));
        assert!(refused(b"<!DOCTYPE x [<!ENTITY a 'b'>]><x/>").contains("document type"));
        let whole = create(&mark(1));
        for cut in [whole.len() / 3, whole.len() / 2, whole.len() - 40] {
            assert!(merge(&whole[..cut], &mark(1)).is_err(), "{}", String::from_utf8_lossy(&whole[..cut]));
        }
        let twice = [whole.clone(), whole].concat();
        assert!(merge(&twice, &mark(1)).is_err());
    }
}
