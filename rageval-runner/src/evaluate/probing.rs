//! Asks the judge about one claim and its evidence.

use super::Evaluation;
use crate::{
    metric::{
        asking::{self, Reading},
        cause,
        confirm::Confirm,
        material::Readable,
    },
    model::{AskedOf, CaseId, Exchange, Transcript, Unmeasured, Verdict},
    trust::probes::Probe,
};

impl Evaluation {
    /// What the judge says of a probe in the reading of this number, from 1; the claim's contexts stand in another order in each.
    ///
    /// # Errors
    /// Why there is no verdict: the judge gave none, asked once more where its reply did not fit.
    pub async fn probe(&self, probe: &Probe, number: u32) -> Result<Verdict, Unmeasured> {
        let place = CaseId::new(&probe.id)
            .map_err(|error| Unmeasured::new(cause::DATA, format!("the probe `{}`: {error}", probe.id)))?;
        let sample = probe.sample();
        let contexts = Readable::of(&sample);
        let confirm = Confirm::new(&probe.query, vec![probe.claim.clone()], &contexts, probe.language, number);
        let mut transcript = Transcript::default();
        loop {
            match asking::read(&transcript, confirm.request(), |reply| confirm.read(reply)) {
                Reading::Fault(fault) => return Err(fault),
                Reading::Read(claims) => {
                    let verdict = claims.first().map(|claim| claim.verdict);
                    return verdict.ok_or_else(|| Unmeasured::new(cause::DATA, "the probe holds no claim"));
                }
                Reading::Ask(request) => {
                    let (reply, source) = self.ask_at(&place, AskedOf::Policy, &request).await;
                    transcript.exchanges.push(Exchange { request, reply, of: AskedOf::Policy, source });
                }
            }
        }
    }
}
