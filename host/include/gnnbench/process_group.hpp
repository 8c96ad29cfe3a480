#pragma once
#include <cstddef>
#include <cstdint>
#include <memory>
#include <span>
#include <string>
#include <utility>
#include <vector>

#include <gnnbench/remote_words.hpp>
#include <gnnbench/turns.hpp>

namespace gnnbench {

class Transport;

/// A set of ranks that exchange control messages on the host, which are neither counted nor timed. They are the processes
/// of an MPI launch, or share one process; whoever uses a group need not know. Groups are made by the worker, and neither
/// this library nor a plugin calls MPI.
class ProcessGroup {
public:
    /// What a group forwards to. A call that blocks may run other ranks of this process until it can return. What a kind
    /// of group does not have throws Unsupported.
    class Implementation {
    public:
        virtual ~Implementation();
        virtual int rank() const = 0;
        virtual int size() const = 0;
        virtual std::unique_ptr<Implementation> split(int color, int key) const = 0;
        virtual std::unique_ptr<Implementation> split_by_host() const = 0;
        virtual void barrier() const = 0;
        virtual void wait_for_all() const { barrier(); }
        virtual void broadcast(void* data, std::size_t bytes, int root) const = 0;
        virtual std::vector<double> sum(std::vector<double> values) const = 0;
        virtual std::vector<double> maximum(std::vector<double> values) const = 0;
        virtual std::vector<std::string> gather(const std::string& text, int root) const = 0;
        virtual std::vector<std::string> all_gather(const std::string& text) const = 0;
        virtual void progress() const {}
        virtual std::unique_ptr<RemoteWords> remote_words(int count, bool in_place) const;
        virtual void trade(int partner, std::span<const std::int64_t> mine, std::span<std::int64_t> theirs) const;
        virtual std::unique_ptr<Transport> host_transport() const;
        virtual bool device_messages() const { return false; }
        virtual std::string library() const { return "no MPI"; }
        virtual void* native() const { return nullptr; }
        virtual Turns* turns() { return nullptr; }
    };
    explicit ProcessGroup(std::unique_ptr<Implementation> implementation);

    /// This process alone, without MPI.
    static ProcessGroup alone();
    ProcessGroup(ProcessGroup&&) noexcept;
    ProcessGroup& operator=(ProcessGroup&&) noexcept;
    ~ProcessGroup();

    /// What connects the ranks, with its version: "Open MPI v4.1.4".
    std::string library() const { return implementation_->library(); }

    int rank() const { return implementation_->rank(); }
    int size() const { return implementation_->size(); }
    /// Ranks with the same color become a group, ordered by (key, rank). Collective.
    ProcessGroup split(int color, int key) const { return ProcessGroup(implementation_->split(color, key)); }
    /// The ranks that share this host. Collective.
    ProcessGroup split_by_host() const { return ProcessGroup(implementation_->split_by_host()); }

    void barrier() const { implementation_->barrier(); }
    /// A barrier for when others may take long: it sleeps between polls and keeps no core busy.
    void wait_for_all() const { implementation_->wait_for_all(); }
    void broadcast(void* data, std::size_t bytes, int root) const {
        implementation_->broadcast(data, bytes, root);
    }
    std::vector<double> sum(std::vector<double> values) const { return implementation_->sum(std::move(values)); }
    std::vector<double> maximum(std::vector<double> values) const {
        return implementation_->maximum(std::move(values));
    }
    /// Every rank's text, in rank order, on the root; empty elsewhere.
    std::vector<std::string> gather(const std::string& text, int root = 0) const {
        return implementation_->gather(text, root);
    }
    /// Every rank's text, in rank order, on every rank.
    std::vector<std::string> all_gather(const std::string& text) const {
        return implementation_->all_gather(text);
    }

    /// Lets messages of other ranks through that need this process, for one that waits for them elsewhere: call it between
    /// polls.
    void progress() const { implementation_->progress(); }
    /// Words in the first rank's memory, zero at first; `in_place`: by instructions on them where all ranks share a host.
    /// Collective, as is their destruction.
    std::unique_ptr<RemoteWords> remote_words(int count, bool in_place) const {
        return implementation_->remote_words(count, in_place);
    }
    /// Sends `mine` to the partner and waits for as many of its words, sleeping between polls.
    void trade(int partner, std::span<const std::int64_t> mine, std::span<std::int64_t> theirs) const {
        implementation_->trade(partner, mine, theirs);
    }
    /// Moves host memory between the ranks, for more than control messages; neither counted nor timed either. Null where
    /// ranks share a process. Collective.
    std::unique_ptr<Transport> host_transport() const;
    /// Whether its transport takes device memory, too.
    bool device_messages() const { return implementation_->device_messages(); }
    /// The MPI_Comm, for calls of MPI itself: *static_cast<MPI_Comm*>(native()). Throws Unsupported where there is none.
    void* native() const;
    /// Null where ranks are processes. Valid as long as the group.
    Turns* turns() const { return implementation_->turns(); }
    const Implementation& implementation() const { return *implementation_; }

private:
    std::unique_ptr<Implementation> implementation_;
};

}  // namespace gnnbench
