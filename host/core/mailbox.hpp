#pragma once
#include <compare>
#include <cstddef>
#include <cstdint>
#include <memory>
#include <vector>

namespace gnnbench {

/// What an implementation of ProcessGroup may be besides, where its ranks share a process: bytes on the host for its members,
/// each under a key that both sides know.
class Mailbox {
public:
    virtual ~Mailbox();

    enum class Kind : std::uint8_t { collective, message };
    struct Key {
        Kind kind = Kind::message;
        std::uint64_t number = 0;  ///< from one rank to another no key is used twice
        auto operator<=>(const Key&) const = default;
    };
    using Letter = std::shared_ptr<const std::vector<std::byte>>;

    virtual void post(int to, Key key, Letter letter) const = 0;
    /// Waits until it has been posted; other ranks run meanwhile. Once.
    virtual Letter collect(int from, Key key) const = 0;
};

}  // namespace gnnbench
