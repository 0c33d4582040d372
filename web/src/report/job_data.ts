// The data of the job table: the jobs and their outcomes under one policy.
import type { Outcomes, Requests } from '../data/jobs';

export interface JobData {
  requests: Requests;
  outcomes: Outcomes;
}
