#pragma once
#include <compare>
#include <cstddef>
#include <cstdint>
#include <memory>
#include <vector>

namespace gnnbench {

/// What ranks do beside collectives that take turns in one process, in a time of their own (host/simulation).
class Turns {
public:
    virtual ~Turns();

    /// This rank's time.
    virtual double now_s() const = 0;
    /// Returns when all is done that other ranks do before now: what this rank does next, it does in the order of time.
    virtual void in_order() = 0;
    /// This rank's host works or sleeps so long.
    virtual void pass(double seconds) = 0;
    /// What this rank's host and device do from now on takes so many times as long; messages do not.
    virtual void pace(double factor) = 0;
    /// There and back to the memory of a rank's host, for one word.
    virtual double reach_s(int rank) const = 0;

    enum class Kind : std::uint8_t { collective, message };
    struct Key {
        Kind kind = Kind::message;
        std::uint64_t number = 0;  ///< from one rank of a group to another no key is used twice
        auto operator<=>(const Key&) const = default;
    };
    using Letter = std::shared_ptr<const std::vector<std::byte>>;
    /// Bytes on the host, which take no time: a letter for a rank, under a key that both know.
    virtual void post(int to, Key key, Letter letter) = 0;
    /// Waits until it has been posted, while other ranks run; one that waited goes on no earlier than the sender was. Once.
    virtual Letter collect(int from, Key key) = 0;
};

}  // namespace gnnbench
