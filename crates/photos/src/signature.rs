//! Signatures, by which photos of the same scene are found: a perceptual hash, a tiny view in gray and in
//! color, and what the last stage of the network sees.

use agenticiqa_metrics::Image;
use agenticiqa_metrics::ops::resize::{Kernel, to_size};
use agenticiqa_vision::fused_nr;
use base64::Engine as _;
use base64::engine::general_purpose::STANDARD_NO_PAD;
use serde::{Deserialize, Deserializer, Serialize, Serializer};

/// Side of the view that the hash is computed from.
const HASHED: usize = 32;
/// Side of the tiny view in gray.
pub(crate) const VIEW: usize = 16;
/// Side of the tiny view in color.
const COLORS: usize = 4;

/// The signature of a photo.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct Signature {
    /// The perceptual hash: the signs of the 64 lowest frequencies.
    pub hash: u64,
    /// Luma of 16x16 parts.
    pub view: Box<[u8; VIEW * VIEW]>,
    /// Blue and red differences of 4x4 parts.
    pub colors: [i8; 2 * COLORS * COLORS],
    /// What the network sees, scaled to -127..=127.
    pub seen: Box<[i8]>,
}

impl Signature {
    /// Computes the signature of an image.
    pub fn of(image: &Image) -> Result<Self, fused_nr::Error> {
        let seen = fused_nr::impression(image)?;
        let largest = seen.iter().fold(f32::MIN_POSITIVE, |largest, value| largest.max(value.abs()));
        let small = image.shrunk((image.width().min(image.height()) / (2 * HASHED)).max(1));
        let channels = [0, 1, 2].map(|channel| {
            let plane = small.channel(channel);
            to_size(&plane, HASHED, HASHED, Kernel::Bilinear).data().to_vec()
        });
        let luma: Vec<f32> = (0..HASHED * HASHED)
            .map(|at| 0.299 * channels[0][at] + 0.587 * channels[1][at] + 0.114 * channels[2][at])
            .collect();
        let view = std::array::from_fn(|at| mean(&luma, VIEW, at).round().clamp(0.0, 255.0) as u8);
        let color = |channel: &[f32], scale: f32, at: usize| {
            let difference = (mean(channel, COLORS, at) - mean(&luma, COLORS, at)) * scale;
            difference.round().clamp(-127.0, 127.0) as i8
        };
        let colors = std::array::from_fn(|at| match at.checked_sub(COLORS * COLORS) {
            None => color(&channels[2], 0.564, at),
            Some(at) => color(&channels[0], 0.713, at),
        });
        Ok(Self {
            hash: hash(&luma),
            view: Box::new(view),
            colors,
            seen: seen.iter().map(|value| (127.0 * value / largest).round() as i8).collect(),
        })
    }
}

/// Returns the mean of one part of a view that is divided into `parts` by `parts`.
fn mean(values: &[f32], parts: usize, at: usize) -> f32 {
    let side = HASHED / parts;
    let (left, top) = (at % parts * side, at / parts * side);
    let rows = (top..top + side).map(|y| values[y * HASHED + left..][..side].iter().sum::<f32>());
    rows.sum::<f32>() / (side * side) as f32
}

/// Returns one bit for each of the lowest 8 by 8 frequencies: whether it is above the median. The mean
/// brightness is left out.
fn hash(luma: &[f32]) -> u64 {
    const LOW: usize = 8;
    let wave = |frequency: usize, at: usize| {
        (std::f64::consts::PI * frequency as f64 * (2 * at + 1) as f64 / (2 * HASHED) as f64).cos()
    };
    let mut frequencies = [0.0; LOW * LOW];
    for (index, frequency) in frequencies.iter_mut().enumerate() {
        let (across, down) = (index % LOW + 1, index / LOW);
        for y in 0..HASHED {
            let row: f64 = (0..HASHED).map(|x| f64::from(luma[y * HASHED + x]) * wave(across, x)).sum();
            *frequency += row * wave(down, y);
        }
    }
    let mut sorted = frequencies;
    sorted.sort_by(f64::total_cmp);
    let median = (sorted[31] + sorted[32]) / 2.0;
    frequencies.iter().enumerate().fold(0, |hash, (bit, value)| hash | u64::from(*value > median) << bit)
}

/// A signature as it is stored: text.
#[derive(Serialize, Deserialize)]
struct Stored {
    hash: String,
    view: String,
    colors: String,
    seen: String,
}

impl Serialize for Signature {
    fn serialize<S: Serializer>(&self, serializer: S) -> Result<S::Ok, S::Error> {
        let signed =
            |values: &[i8]| STANDARD_NO_PAD.encode(values.iter().map(|v| v.cast_unsigned()).collect::<Vec<_>>());
        let stored = Stored {
            hash: format!("{:016x}", self.hash),
            view: STANDARD_NO_PAD.encode(self.view.as_slice()),
            colors: signed(&self.colors),
            seen: signed(&self.seen),
        };
        stored.serialize(serializer)
    }
}

impl<'de> Deserialize<'de> for Signature {
    fn deserialize<D: Deserializer<'de>>(deserializer: D) -> Result<Self, D::Error> {
        use serde::de::Error;
        let stored = Stored::deserialize(deserializer)?;
        let bytes = |text: &str| STANDARD_NO_PAD.decode(text).map_err(D::Error::custom);
        let signed = |bytes: Vec<u8>| bytes.into_iter().map(u8::cast_signed).collect::<Vec<i8>>();
        let length = |_| D::Error::custom("a signature of another length");
        let view: [u8; VIEW * VIEW] = bytes(&stored.view)?.try_into().map_err(|_| length(()))?;
        Ok(Self {
            hash: u64::from_str_radix(&stored.hash, 16).map_err(D::Error::custom)?,
            view: Box::new(view),
            colors: signed(bytes(&stored.colors)?).try_into().map_err(|_| length(()))?,
            seen: signed(bytes(&stored.seen)?).into(),
        })
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn a_signature_is_read_back_as_it_was_and_a_brighter_photo_has_nearly_the_same_hash() {
        let scene = |light: f32| {
            let value = |x: f32, y: f32| 60.0 + 50.0 * (x / 17.0).sin() * (y / 23.0).cos() + x / 4.0;
            let pixel = |at: usize| (value((at % 240) as f32, (at / 240) as f32) * light) as u8;
            Image::from_gray8(240, 160, (0..240 * 160).map(pixel).collect()).unwrap()
        };
        let one = Signature::of(&scene(1.0)).unwrap();
        let json = serde_json::to_string(&one).unwrap();
        assert_eq!(serde_json::from_str::<Signature>(&json).unwrap(), one);
        assert!(serde_json::from_str::<Signature>(&json.replace("\"seen\"", "\"lost\"")).is_err());
        let brighter = Signature::of(&scene(1.2)).unwrap();
        assert!((one.hash ^ brighter.hash).count_ones() <= 6, "{:x} {:x}", one.hash, brighter.hash);
        assert_eq!((one.seen.len(), one.colors), (192, [0; 32]));
    }
}
