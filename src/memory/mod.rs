pub(crate) mod breadcrumb;
pub(crate) mod brief;
pub(crate) mod checkpoint;
pub(crate) mod crumb;
pub(crate) mod forward;
pub(crate) mod recall;
