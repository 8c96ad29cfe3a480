#pragma once
#include <string>
#include <vector>

#include <gnnbench/process_group.hpp>

/// What ranks make sure of before anything else, since they may be on several hosts.

namespace gnnbench {

/// Every rank hears from others by MPI itself, so that a network that MPI cannot use is named rather than waited for.
/// Throws CommunicationError once `limit_s` has passed in vain. Collective.
void require_contact(const ProcessGroup& world, double limit_s);
/// How long a rank waits for another to answer, or for a shared file to appear: GNNBENCH_HOST_LIMIT in seconds, or a default
/// that grows with the number of ranks. NFS may take a minute until all hosts see a new file.
double host_limit_s(int ranks);

/// One rank's place, as it sees it.
struct RankPlace {
    std::string host;        ///< name
    std::string local_rank;  ///< its launcher's number of it among the host's ranks; empty: not said
    std::string kernel;      ///< differs between hosts, and between network namespaces
};
/// The complaint about two hosts with one name, between which Open MPI does not tell; empty if there are none.
std::string why_names_clash(const std::vector<RankPlace>& by_rank);
/// Throws EnvironmentError with it. Collective.
void require_distinct_names(const ProcessGroup& world);

/// Open MPI's daemons leave a trial's folder of shared files on hosts other than gnnbench's. Removes those of earlier trials,
/// and marks this trial's, so that the next can tell. Called by every rank.
void tidy_shared_files(const std::string& trial);

}  // namespace gnnbench
