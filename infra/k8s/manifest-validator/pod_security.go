package main

import (
	"encoding/json"

	appsv1 "k8s.io/api/apps/v1"
	batchv1 "k8s.io/api/batch/v1"
	corev1 "k8s.io/api/core/v1"
	"k8s.io/kubernetes/pkg/api/legacyscheme"
	"k8s.io/pod-security-admission/api"
	"k8s.io/pod-security-admission/policy"
)

// The standard that the namespace enforces (k8s/base/namespace.yaml).
var restricted = api.LevelVersion{Level: api.LevelRestricted, Version: api.LatestVersion()}

var podSecurity = func() policy.Evaluator {
	evaluator, err := policy.NewEvaluator(policy.DefaultChecks(), nil)
	if err != nil {
		panic(err)
	}
	return evaluator
}()

// Returns what pod security admission would refuse in the pods of a workload. The API server accepts such a workload, but
// none of its pods.
func podRefusals(document json.RawMessage) []string {
	object, _, err := legacyscheme.Codecs.UniversalDeserializer().Decode(document, nil, nil)
	if err != nil {
		return nil // Reported already.
	}
	var template corev1.PodTemplateSpec
	switch workload := object.(type) {
	case *appsv1.Deployment:
		template = workload.Spec.Template
	case *batchv1.Job:
		template = workload.Spec.Template
	default:
		return nil
	}
	details := []string{}
	for _, result := range podSecurity.EvaluatePod(restricted, &template.ObjectMeta, &template.Spec) {
		if !result.Allowed {
			details = append(details, "pod security: "+result.ForbiddenReason+": "+result.ForbiddenDetail)
		}
	}
	return details
}
