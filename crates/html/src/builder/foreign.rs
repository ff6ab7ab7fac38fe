//! SVG and MathML in a page.

use std::sync::LazyLock;

use rustc_hash::FxHashMap;

use super::open::Space;
use super::{Builder, Is, Name, Step, Token, is_blank};
use crate::tokenizer::StartTag;

impl Builder {
    /// Whether a token is processed by the rules of foreign content.
    pub(super) fn is_foreign_for(&self, token: Token<'_>) -> bool {
        let current = self.current();
        if !current.is_foreign() {
            return false;
        }
        let is_annotation = current.space == Space::MathMl && current.name == Name::ANNOTATION_XML;
        let holds_html = || is_annotation && self.tree.holds_html(current.id);
        let any_point = Is::TEXT_POINT.or(Is::HTML_POINT);
        match token {
            Token::Eof => false,
            Token::Text(_) | Token::Nul => !(current.is.any(any_point) || holds_html()),
            Token::Start(tag) => {
                let stays_foreign = matches!(tag.name, Name::MGLYPH | Name::MALIGNMARK);
                let points = if stays_foreign { Is::HTML_POINT } else { any_point };
                let is_svg = is_annotation && tag.name == Name::SVG;
                !(current.is.any(points) || is_svg || holds_html())
            }
            Token::End(_) | Token::Comment(_) => true,
        }
    }

    pub(super) fn in_foreign(&mut self, token: Token<'_>) -> Step {
        match token {
            Token::Nul => self.append_text("\u{fffd}"),
            Token::Text(text) => {
                self.frameset_ok = self.frameset_ok && is_blank(text);
                self.append_text(text)
            }
            Token::Comment(text) => self.append_comment(text),
            Token::Start(tag) if leaves_foreign(tag) => self.leave_foreign(token),
            Token::Start(tag) => {
                let space = self.current().space;
                let name = if space == Space::Svg { self.svg_name(tag.name) } else { tag.name };
                self.insert_foreign(tag, name, space)
            }
            Token::End(Name::BR | Name::P) => self.leave_foreign(token),
            Token::End(name) => self.end_foreign(name, token),
            Token::Eof => Step::Done,
        }
    }

    /// Closes foreign elements and processes the token by the rules of the mode.
    fn leave_foreign(&mut self, token: Token<'_>) -> Step {
        let takes_html = Is::TEXT_POINT.or(Is::HTML_POINT);
        while self.current().is_foreign() && !self.current().is.any(takes_html) {
            self.pop();
        }
        self.step(self.mode, token)
    }

    fn end_foreign(&mut self, name: Name, token: Token<'_>) -> Step {
        let wanted = self.tree.names.text(name);
        for place in (1..self.open.len()).rev() {
            let open = self.open[place];
            if place + 1 < self.open.len() && !open.is_foreign() {
                return self.step(self.mode, token);
            }
            if open.name == name || self.tree.names.text(open.name).eq_ignore_ascii_case(wanted) {
                self.open.truncate(place);
                return Step::Done;
            }
        }
        Step::Done
    }

    pub(super) fn insert_foreign(&mut self, tag: &StartTag<'_>, name: Name, space: Space) -> Step {
        let element = self.insert_closed(name, tag.attrs, space);
        if !tag.is_self_closing {
            self.open.push(element);
        }
        Step::Done
    }

    /// An SVG element's name as it is written, not in lower case.
    fn svg_name(&mut self, name: Name) -> Name {
        self.adjusted(name, &SVG_NAMES)
    }

    /// A foreign attribute's name as it is written.
    pub(super) fn foreign_attribute(&mut self, name: Name, space: Space) -> Name {
        match (space, self.tree.names.text(name)) {
            (Space::Svg, _) => self.adjusted(name, &SVG_ATTRIBUTES),
            (Space::MathMl, "definitionurl") => self.tree.names.intern("definitionURL"),
            _ => name,
        }
    }

    fn adjusted(&mut self, name: Name, written: &FxHashMap<String, &'static str>) -> Name {
        match written.get(self.tree.names.text(name)) {
            Some(written) => self.tree.names.intern(written),
            None => name,
        }
    }
}

/// Whether a start tag ends foreign content: the tags of HTML that are frequent in it by mistake.
fn leaves_foreign(tag: &StartTag<'_>) -> bool {
    match tag.name {
        Name::B
        | Name::BIG
        | Name::BLOCKQUOTE
        | Name::BODY
        | Name::BR
        | Name::CENTER
        | Name::CODE
        | Name::DD
        | Name::DIV
        | Name::DL
        | Name::DT
        | Name::EM
        | Name::EMBED
        | Name::H1
        | Name::H2
        | Name::H3
        | Name::H4
        | Name::H5
        | Name::H6
        | Name::HEAD
        | Name::HR
        | Name::I
        | Name::IMG
        | Name::LI
        | Name::LISTING
        | Name::MENU
        | Name::META
        | Name::NOBR
        | Name::OL
        | Name::P
        | Name::PRE
        | Name::RUBY
        | Name::S
        | Name::SMALL
        | Name::SPAN
        | Name::STRONG
        | Name::STRIKE
        | Name::SUB
        | Name::SUP
        | Name::TABLE
        | Name::TT
        | Name::U
        | Name::UL
        | Name::VAR => true,
        Name::FONT => tag.attrs.iter().any(|attr| matches!(attr.name, Name::COLOR | Name::FACE | Name::SIZE)),
        _ => false,
    }
}

/// Names by their lower case.
fn by_lower_case(names: &[&'static str]) -> FxHashMap<String, &'static str> {
    names.iter().map(|name| (name.to_ascii_lowercase(), *name)).collect()
}

/// SVG elements with capital letters.
static SVG_NAMES: LazyLock<FxHashMap<String, &'static str>> = LazyLock::new(|| {
    by_lower_case(&[
        "altGlyph",
        "altGlyphDef",
        "altGlyphItem",
        "animateColor",
        "animateMotion",
        "animateTransform",
        "clipPath",
        "feBlend",
        "feColorMatrix",
        "feComponentTransfer",
        "feComposite",
        "feConvolveMatrix",
        "feDiffuseLighting",
        "feDisplacementMap",
        "feDistantLight",
        "feDropShadow",
        "feFlood",
        "feFuncA",
        "feFuncB",
        "feFuncG",
        "feFuncR",
        "feGaussianBlur",
        "feImage",
        "feMerge",
        "feMergeNode",
        "feMorphology",
        "feOffset",
        "fePointLight",
        "feSpecularLighting",
        "feSpotLight",
        "feTile",
        "feTurbulence",
        "foreignObject",
        "glyphRef",
        "linearGradient",
        "radialGradient",
        "textPath",
    ])
});

/// SVG attributes with capital letters.
static SVG_ATTRIBUTES: LazyLock<FxHashMap<String, &'static str>> = LazyLock::new(|| {
    by_lower_case(&[
        "attributeName",
        "attributeType",
        "baseFrequency",
        "baseProfile",
        "calcMode",
        "clipPathUnits",
        "diffuseConstant",
        "edgeMode",
        "filterUnits",
        "glyphRef",
        "gradientTransform",
        "gradientUnits",
        "kernelMatrix",
        "kernelUnitLength",
        "keyPoints",
        "keySplines",
        "keyTimes",
        "lengthAdjust",
        "limitingConeAngle",
        "markerHeight",
        "markerUnits",
        "markerWidth",
        "maskContentUnits",
        "maskUnits",
        "numOctaves",
        "pathLength",
        "patternContentUnits",
        "patternTransform",
        "patternUnits",
        "pointsAtX",
        "pointsAtY",
        "pointsAtZ",
        "preserveAlpha",
        "preserveAspectRatio",
        "primitiveUnits",
        "refX",
        "refY",
        "repeatCount",
        "repeatDur",
        "requiredExtensions",
        "requiredFeatures",
        "specularConstant",
        "specularExponent",
        "spreadMethod",
        "startOffset",
        "stdDeviation",
        "stitchTiles",
        "surfaceScale",
        "systemLanguage",
        "tableValues",
        "targetX",
        "targetY",
        "textLength",
        "viewBox",
        "viewTarget",
        "xChannelSelector",
        "yChannelSelector",
        "zoomAndPan",
    ])
});
