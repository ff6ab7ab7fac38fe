//! A network in the settings: `ADDRESS/BITS`.

use std::net::IpAddr;

use serde::Serialize;

/// A CIDR block. An address without bits is a network of one address.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Serialize)]
pub struct Network {
    address: IpAddr,
    bits: u8,
}

impl Network {
    /// Parses `10.0.0.0/8`, `fd00::/8` or a single address.
    pub fn parse(text: &str) -> Option<Network> {
        let (address, bits) = text.trim().split_once('/').map_or((text.trim(), None), |(a, b)| (a, Some(b)));
        let address: IpAddr = address.parse().ok()?;
        let most = if address.is_ipv4() { 32 } else { 128 };
        let bits = bits.map_or(Some(most), |bits| bits.parse().ok().filter(|bits| *bits <= most))?;
        Some(Network { address, bits })
    }

    /// Whether the network contains this address. An IPv4-mapped IPv6 address counts as IPv4.
    pub fn contains(&self, address: IpAddr) -> bool {
        let all = |address: IpAddr| match address.to_canonical() {
            IpAddr::V4(v4) => (u128::from(u32::from(v4)) << 96, true),
            IpAddr::V6(v6) => (u128::from(v6), false),
        };
        let ((network, is_v4), (address, also_v4)) = (all(self.address), all(address));
        let apart = network ^ address;
        is_v4 == also_v4 && (self.bits == 0 || apart >> (128 - u32::from(self.bits)) == 0)
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn networks_hold_their_addresses() {
        let holds = |network: &str, address: &str| Network::parse(network).unwrap().contains(address.parse().unwrap());
        assert!(holds("10.0.0.0/8", "10.255.0.1") && !holds("10.0.0.0/8", "11.0.0.1"));
        assert!(holds("10.0.0.0/8", "::ffff:10.0.0.1") && holds("0.0.0.0/0", "8.8.8.8"));
        assert!(holds("fd00::/8", "fdff::1") && !holds("fd00::/8", "10.0.0.1") && holds("1.2.3.4", "1.2.3.4"));
        for wrong in ["10.0.0.0/33", "x/8", "10.0.0.0/", ""] {
            assert_eq!(Network::parse(wrong), None, "{wrong}");
        }
    }
}
