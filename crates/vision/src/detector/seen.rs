//! What the networks see in an image at one or two scales, and how likely it is.

use agenticiqa_metrics::{Image, Region};

use super::boxes::{Found, without_doubles};
use super::faces::{Face, merged};
use super::{Error, Model, faces, likelihood, names, objects, view};

/// Persons with a peak from here on are looked at again if no face was found in them.
const PERSON: f32 = 0.25;
/// A face with this peak is clear; others may be clearer from close up.
const CLEAR: f32 = 0.95;
/// At most this many persons are looked at again.
const MOST_PERSONS: usize = 8;
/// Side of what is looked at again, in heights of the person: the head is at the top.
const HEAD: f32 = 0.5;
/// A face that is larger than this share of the view was large enough to be found at first.
const LARGE: f32 = 0.5;
/// Something at the inner border of a tile is cut off; borders have this share of the tile.
const CUT: f32 = 0.02;
/// Things of a tile that are longer than this share of it were large enough to be found at first.
const OF_TILE: f32 = 0.5;

/// Something that may be there, and what its probability was computed from.
#[derive(Debug, Clone)]
pub(super) struct Judged {
    pub found: Found,
    pub measurements: Vec<f32>,
    pub face: Option<Face>,
}

/// What both networks see.
#[derive(Debug, Clone, Default)]
pub(super) struct Seen {
    objects: Vec<Found>,
    faces: Vec<Face>,
    /// Faces that only the closer look shows.
    close: Vec<Face>,
}

impl Seen {
    /// Looks at a part of an image.
    pub fn of(model: &Model, image: &Image, part: &Region) -> Result<Self, Error> {
        let crop = cut(image, part)?;
        let objects = objects::find(model, &crop)?.into_iter().map(|found| found.moved(part)).collect();
        let faces = faces::find(model, &crop)?.into_iter().map(|face| face.moved(part)).collect();
        Ok(Self { objects, faces, close: Vec::new() })
    }

    /// Looks for faces only.
    pub fn faces_of(model: &Model, image: &Image) -> Result<Self, Error> {
        Ok(Self { faces: faces::find(model, image)?, ..Self::default() })
    }

    /// Looks again from close up: at the tiles of a large image, and at persons without a face.
    pub fn look_closer(&mut self, model: &Model, image: &Image) -> Result<(), Error> {
        for tile in view::tiles(image.width(), image.height()) {
            let Self { objects, faces, .. } = Self::of(model, image, &tile)?;
            let small = |found: &Found| {
                let longer = (found.right - found.left).max(found.bottom - found.top);
                longer < OF_TILE * tile.width.max(tile.height) as f32 && !is_cut(found, &tile, image)
            };
            self.objects.extend(objects.into_iter().filter(small));
            self.close.extend(faces.into_iter().filter(|face| small(&face.inner)));
        }
        for head in self.heads(image) {
            let crop = cut(image, &head)?;
            let large = |face: &Face| face.inner.right - face.inner.left > LARGE * head.width as f32;
            let found = faces::find(model, &crop)?.into_iter().map(|face| face.moved(&head));
            self.close.extend(found.filter(|face| !large(face)));
        }
        // Of two views of a face, the clearer one counts.
        let close = merged(std::mem::take(&mut self.close));
        let same = |one: &Face, other: &Face| one.inner.overlap(&other.inner) > faces::SAME;
        self.faces.retain(|first| !close.iter().any(|face| same(first, face) && face.inner.peak > first.inner.peak));
        let known = |face: &Face| self.faces.iter().any(|first| same(first, face));
        self.close = close.into_iter().filter(|face| !known(face)).collect();
        Ok(())
    }

    /// Returns where the heads of persons may be in whom no face was found.
    fn heads(&self, image: &Image) -> Vec<Region> {
        let (width, height) = (image.width() as f32, image.height() as f32);
        let seen = |person: &Found| {
            let inside = |face: &Face| person.shared(&face.inner) > 0.5 * face.inner.area();
            self.faces.iter().chain(&self.close).any(|face| inside(face) && face.inner.peak >= CLEAR)
        };
        let person = |found: &&Found| found.class == names::PERSON && found.peak >= PERSON && !seen(found);
        let mut persons: Vec<Found> = self.objects.iter().filter(person).copied().collect();
        persons.sort_by(|a, b| b.peak.total_cmp(&a.peak));
        let head = |person: Found| {
            let side = (HEAD * (person.bottom - person.top)).max(person.right - person.left).min(width).min(height);
            let (x, y) = ((person.left + person.right - side) / 2.0, person.top - 0.1 * side);
            let start = |start: f32, most: f32| start.clamp(0.0, most - side) as usize;
            let side_pixels = side as usize;
            Region { x: start(x, width), y: start(y, height), width: side_pixels, height: side_pixels }
        };
        // A head that fills the view was seen well enough.
        let closer = |head: &Region| head.width > 0 && (head.width as f32) < 0.7 * width.max(height);
        persons.into_iter().map(head).filter(closer).take(MOST_PERSONS).collect()
    }

    /// Judges everything in an image, or in a part of it, of this size. One of each thing is returned,
    /// the most probable first.
    pub fn judged(&self, part: &Region) -> Vec<Judged> {
        let size = (part.width as f32, part.height as f32);
        let near = |found: &Found| found.moved_back(part);
        let objects: Vec<Found> = self.objects.iter().map(near).collect();
        let faces: Vec<Found> = self.faces.iter().chain(&self.close).map(|face| near(&face.inner)).collect();
        let of_object = |(found, place): (&Found, &Found)| {
            let measurements = likelihood::of_object(place, &objects, &faces, size);
            let found = Found { probability: likelihood::object(&measurements), ..*found };
            Judged { found, measurements: measurements.to_vec(), face: None }
        };
        let of_face = |(face, close): (&Face, bool)| {
            let measurements = likelihood::of_face(&near(&face.inner), &objects, size, close);
            let (left, top) = (part.x as f32, part.y as f32);
            let whole = face.whole().within((left, top), (left + size.0, top + size.1));
            let found = Found { probability: likelihood::face(&measurements), ..whole };
            Judged { found, measurements: measurements.to_vec(), face: Some(*face) }
        };
        let close = self.close.iter().map(|face| (face, true));
        let all_faces = self.faces.iter().map(|face| (face, false)).chain(close).map(of_face);
        let judged = self.objects.iter().zip(&objects).map(of_object).chain(all_faces).collect();
        without_doubles(judged, |judged: &Judged| &judged.found)
    }
}

fn cut(image: &Image, part: &Region) -> Result<Image, Error> {
    let whole = part.width == image.width() && part.height == image.height();
    if whole { Ok(image.clone()) } else { Ok(image.crop(part)?) }
}

/// Whether something touches a border of a tile that is no border of the image.
fn is_cut(found: &Found, tile: &Region, image: &Image) -> bool {
    let (left, top) = (tile.x as f32, tile.y as f32);
    let (right, bottom) = ((tile.x + tile.width) as f32, (tile.y + tile.height) as f32);
    let (across, down) = (CUT * tile.width as f32, CUT * tile.height as f32);
    tile.x > 0 && found.left < left + across
        || tile.y > 0 && found.top < top + down
        || tile.x + tile.width < image.width() && found.right > right - across
        || tile.y + tile.height < image.height() && found.bottom > bottom - down
}

#[cfg(test)]
mod tests {
    use super::*;

    fn person(left: f32, top: f32, right: f32, bottom: f32) -> Found {
        Found { class: names::PERSON, left, top, right, bottom, peak: 0.8, probability: 0.0 }
    }

    #[test]
    fn small_persons_without_a_face_are_looked_at_again() {
        let image = Image::from_gray8(400, 300, vec![90; 120_000]).unwrap();
        let objects = vec![person(100.0, 50.0, 150.0, 250.0), person(380.0, 0.0, 400.0, 20.0)];
        let mut seen = Seen { objects, ..Seen::default() };
        let heads = seen.heads(&image);
        assert_eq!(heads[0], Region { x: 75, y: 40, width: 100, height: 100 });
        for Region { x, y, width, height } in &heads {
            assert!(x + width <= 400 && y + height <= 300 && *width > 0, "{heads:?}");
        }
        let inner = Found { class: names::FACE, ..person(115.0, 60.0, 135.0, 80.0) };
        seen.faces.push(Face {
            inner: Found { peak: 0.99, ..inner },
            eyes: [(120.0, 65.0), (130.0, 65.0)],
            shape: Default::default(),
        });
        assert_eq!(seen.heads(&image).len(), 1);
        seen.objects = vec![person(0.0, 0.0, 400.0, 300.0); 20];
        assert_eq!(seen.heads(&image).len(), 0, "it was seen well enough");
    }

    #[test]
    fn things_at_the_inner_border_of_a_tile_are_cut() {
        let image = Image::from_gray8(400, 300, vec![90; 120_000]).unwrap();
        let tile = Region { x: 0, y: 0, width: 240, height: 180 };
        assert!(!is_cut(&person(0.0, 0.0, 50.0, 50.0), &tile, &image));
        assert!(is_cut(&person(200.0, 50.0, 239.0, 90.0), &tile, &image));
        let last = Region { x: 160, y: 120, ..tile };
        assert!(!is_cut(&person(350.0, 250.0, 400.0, 300.0), &last, &image));
        assert!(is_cut(&person(161.0, 250.0, 220.0, 300.0), &last, &image));
    }
}
