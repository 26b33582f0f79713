//! What a question says about the image: one claim for each aspect that it names.

use super::sign::{Aspect, Degree, Grade, Kind, Pole};

/// One statement about the image, true or not.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub struct Claim {
    /// What it is about.
    pub aspect: Aspect,
    /// The side that it names; `None` for a property without a judgment: "the sharpness".
    pub pole: Option<Pole>,
    /// The variety of a fault.
    pub kind: Option<Kind>,
    /// How strong it is.
    pub degree: Option<Degree>,
    /// Whether it is denied: "no noise", "not sharp".
    pub denied: bool,
    /// The index of the first word.
    pub at: usize,
    /// The number of words.
    pub length: usize,
}

impl Claim {
    /// A claim without degree or denial.
    pub fn new(aspect: Aspect, pole: Option<Pole>, kind: Option<Kind>) -> Self {
        Self { aspect, pole, kind, degree: None, denied: false, at: 0, length: 1 }
    }

    /// Whether the named side hurts the image.
    pub fn is_bad(&self) -> bool {
        use Aspect::{Cast, Compression, Damage, Exposure, Halos, Haze, Noise};
        let bad = match (self.aspect, self.pole) {
            (_, None) => false,
            (Aspect::Hue | Aspect::Symmetry | Aspect::Emphasis, Some(_)) => false,
            (_, Some(Pole::Fault)) => true,
            (_, Some(Pole::Good | Pole::Middle)) => false,
            (Noise | Cast | Compression | Damage | Halos | Haze, Some(pole)) => pole == Pole::High,
            (Exposure, Some(_)) => true,
            (Aspect::Light, Some(pole)) => pole == Pole::Low,
            (_, Some(pole)) => pole == Pole::Low,
        };
        bad != self.denied
    }

    /// Whether the aspect is an amount of something bad: noise, not light.
    pub fn is_amount(aspect: Aspect) -> bool {
        use Aspect::{Cast, Compression, Damage, Halos, Haze, Noise};
        matches!(aspect, Noise | Cast | Compression | Damage | Halos | Haze)
    }

    /// Adds a judgment: "high noise", "the sharpness is poor".
    pub fn grade(&mut self, grade: Grade) {
        let amount = Self::is_amount(self.aspect);
        let Some(pole) = self.pole else {
            self.pole = Some(match grade {
                Grade::High => Pole::High,
                Grade::Low => Pole::Low,
                Grade::Medium => Pole::Middle,
                Grade::Good if amount => Pole::Low,
                Grade::Poor if amount => Pole::High,
                Grade::Good => Pole::Good,
                Grade::Poor => Pole::Fault,
            });
            if self.degree.is_none() && amount && grade == Grade::High {
                self.degree = Some(Degree::Strong);
            }
            return;
        };
        let bad = Self { denied: false, ..*self }.is_bad();
        match grade {
            Grade::High => self.degree = self.degree.or(Some(Degree::Strong)),
            Grade::Low => (self.pole, self.kind) = (Some(pole.opposite()), None),
            Grade::Medium => self.pole = Some(Pole::Middle),
            Grade::Good if bad => (self.pole, self.kind) = (Some(Pole::Good), None),
            Grade::Poor if !bad => (self.pole, self.kind) = (Some(pole.opposite()), None),
            Grade::Good | Grade::Poor => {}
        }
    }

    /// "too": so much that it hurts.
    pub fn exceed(&mut self) {
        self.degree = Some(Degree::Too);
        match (self.aspect, self.pole) {
            (Aspect::Light, Some(pole @ (Pole::Low | Pole::High))) => {
                (self.aspect, self.pole) = (Aspect::Exposure, Some(pole));
            }
            (Aspect::Light, None) => (self.aspect, self.pole) = (Aspect::Exposure, Some(Pole::High)),
            (Aspect::Sharpness, Some(Pole::High) | None) => {
                (self.aspect, self.pole) = (Aspect::Halos, Some(Pole::High))
            }
            (Aspect::Color, Some(Pole::High) | None) => {
                (self.pole, self.kind) = (Some(Pole::High), Some(Kind::Oversaturated));
            }
            (_, None) => self.pole = Some(Pole::High),
            _ => {}
        }
    }

    /// "lack of", "not enough".
    pub fn lack(&mut self) {
        let amount = Self::is_amount(self.aspect);
        match self.pole {
            None => self.pole = Some(Pole::Low),
            Some(_) if amount || Self { denied: false, ..*self }.is_bad() => self.denied = !self.denied,
            Some(pole) => self.pole = Some(pole.opposite()),
        }
    }

    /// "problem", "issue".
    pub fn blame(&mut self) {
        let bad = Self { denied: false, ..*self }.is_bad();
        match self.pole {
            None if Self::is_amount(self.aspect) => self.pole = Some(Pole::High),
            None => self.pole = Some(Pole::Fault),
            Some(Pole::High | Pole::Good) if !bad => self.pole = self.pole.map(Pole::opposite),
            Some(_) => {}
        }
    }

    /// "enough": bright enough is not yet bright.
    pub fn suffice(&mut self) {
        match (self.aspect, self.pole) {
            (Aspect::Light, Some(Pole::High)) | (_, None) => self.pole = Some(Pole::Good),
            _ => self.degree = Some(Degree::Enough),
        }
    }
}
