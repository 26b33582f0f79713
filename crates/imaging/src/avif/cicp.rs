//! Colors described by code points (ITU-T H.273) instead of a profile.
//!
//! The curves of BT.709, BT.601 and BT.2020 are camera curves. Such images are meant for the same
//! display curve as sRGB, so they count as sRGB. PQ and HLG are HDR: the file does not define
//! white or the tone mapping, so their code values are measured unchanged, with a note.

use moxcms::{CicpColorPrimaries, CicpProfile, ColorProfile, MatrixCoefficients, ProfileText, TransferCharacteristics};

use crate::Note;

/// The code point of the sRGB curve, and those of curves that count as sRGB, including "not
/// stated".
const SRGB: u16 = 13;
const LIKE_SRGB: [u16; 6] = [1, 2, 6, SRGB, 14, 15];

/// Returns a profile of these colors, `None` for sRGB, or a note why they are treated as sRGB.
pub(super) fn profile(primaries: u16, transfer: u16) -> Result<Option<Vec<u8>>, Note> {
    let ignored = |reason: String| Note::ProfileIgnored { reason };
    match transfer {
        16 => return Err(ignored("HDR with the PQ curve, measured without tone mapping".to_owned())),
        18 => return Err(ignored("HDR with the HLG curve, measured without tone mapping".to_owned())),
        _ => {}
    }
    let transfer = if LIKE_SRGB.contains(&transfer) { SRGB } else { transfer };
    // 1 is BT.709, which has the same primaries as sRGB; 2 is "not stated".
    if matches!(primaries, 1 | 2) && transfer == SRGB {
        return Ok(None);
    }
    let name = format!("primaries {primaries}, transfer {transfer} of ITU-T H.273");
    let known = || {
        let color_primaries = CicpColorPrimaries::try_from(u8::try_from(primaries.max(1)).ok()?).ok()?;
        let transfer_characteristics = TransferCharacteristics::try_from(u8::try_from(transfer).ok()?).ok()?;
        let matrix_coefficients = MatrixCoefficients::Identity;
        Some(CicpProfile { color_primaries, transfer_characteristics, matrix_coefficients, full_range: true })
    };
    let unknown = || ignored(format!("{name} are unknown"));
    let mut cicp = known().ok_or_else(unknown)?;
    if matches!(cicp.color_primaries, CicpColorPrimaries::Unspecified) {
        cicp.color_primaries = CicpColorPrimaries::Bt709;
    }
    let mut profile = ColorProfile::new_from_cicp(cicp);
    if profile.red_trc.is_none() {
        return Err(unknown());
    }
    profile.description = Some(ProfileText::PlainString(name.clone()));
    profile.encode().map(Some).map_err(|error| ignored(format!("{name} cannot be used ({error})")))
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn srgb_and_what_counts_as_it_need_no_profile() {
        for transfer in LIKE_SRGB {
            assert!(matches!(profile(1, transfer), Ok(None)), "{transfer}");
            assert!(matches!(profile(2, transfer), Ok(None)), "{transfer}");
        }
        for (primaries, transfer) in [(9, 13), (12, 13), (9, 1), (1, 8), (1, 4), (11, 17), (2, 5)] {
            assert!(matches!(profile(primaries, transfer), Ok(Some(_))), "{primaries}, {transfer}");
        }
    }

    #[test]
    fn what_cannot_be_converted_is_a_note() {
        for (primaries, transfer) in [(9, 16), (9, 18), (77, 13), (1, 3), (300, 300)] {
            assert!(
                matches!(profile(primaries, transfer), Err(Note::ProfileIgnored { .. })),
                "{primaries}, {transfer}"
            );
        }
    }
}
