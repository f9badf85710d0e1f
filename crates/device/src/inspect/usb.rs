//! A card behind a USB reader: what the reader says of itself in the card's place.
//!
//! sd-facts section 8.

use crate::block::BlockDevice;
use crate::system::{System, text};
use crate::usb;
use cardscope_model::usb::UsbReader;

/// Describes the reader or stick that a disk hangs on.
pub(crate) fn reader(system: &System, disk: &BlockDevice) -> Option<UsbReader> {
    let place = usb::place(system, disk)?;
    let mut reader = UsbReader {
        vendor_id: place.text("idVendor"),
        product_id: place.text("idProduct"),
        vendor: place.text("manufacturer"),
        product: place.text("product"),
        serial: place.text("serial"),
        driver: place.driver(),
        ..UsbReader::default()
    };
    let inquiry = disk.hardware(system);
    reader.inquiry_vendor = text(inquiry.join("vendor"));
    reader.inquiry_model = text(inquiry.join("model"));
    reader.inquiry_rev = text(inquiry.join("rev"));
    if let Some(speed) = place.text("speed") {
        reader.set_speed(&speed);
    }
    if let Some(protocol) = place.protocol() {
        reader.set_interface_protocol(protocol);
    }
    Some(reader)
}
