#pragma once
#include <gnnbench/batches/batch_training.hpp>
#include <gnnbench/strategy.hpp>

namespace gnnbench {

/// Workers with weights of their own, judged as one: the best local model on the validation set, as the thesis
/// chooses it (Algorithm 6, line 55). Every worker's model is judged on the whole graph, each by its own worker.
/// Without validation vertices the train set decides; the lowest rank of equal ones is chosen. Calls are collective.
class BestLocalModel {
public:
    BestLocalModel(const Problem& problem, Rank rank);

    /// The score of the best of what all ranks give.
    Score score(const ModelWeights& mine);
    /// `of_mine`, as the rank gives it whose `mine` is the best.
    ModelWeights chosen(const ModelWeights& mine, ModelWeights of_mine);
    /// The best one's rank has all rows, the others none.
    OwnedRows embeddings(const ModelWeights& mine);

private:
    struct Judged {
        Score mine;
        int best = 0;  ///< rank
    };
    Judged judge(WholeGraphModel& model) const;

    const Problem problem_;
    const ProcessGroup& processes_;
    ProcessGroup alone_;
    Communicator self_;
    Rank alone_rank_;
};

}  // namespace gnnbench
