package main

import (
	"context"
	"encoding/json"
	"fmt"

	"k8s.io/apimachinery/pkg/api/errors"
	"k8s.io/apimachinery/pkg/api/meta"
	"k8s.io/apimachinery/pkg/runtime"
	"k8s.io/apimachinery/pkg/runtime/schema"
	"k8s.io/apimachinery/pkg/runtime/serializer"
	"k8s.io/apiserver/pkg/endpoints/request"
	"k8s.io/apiserver/pkg/registry/rest"
	"k8s.io/kubernetes/pkg/api/legacyscheme"
	_ "k8s.io/kubernetes/pkg/apis/apps/install"
	_ "k8s.io/kubernetes/pkg/apis/autoscaling/install"
	_ "k8s.io/kubernetes/pkg/apis/batch/install"
	_ "k8s.io/kubernetes/pkg/apis/core/install"
	_ "k8s.io/kubernetes/pkg/apis/networking/install"
	_ "k8s.io/kubernetes/pkg/apis/policy/install"
	"k8s.io/kubernetes/pkg/registry/apps/deployment"
	"k8s.io/kubernetes/pkg/registry/autoscaling/horizontalpodautoscaler"
	"k8s.io/kubernetes/pkg/registry/networking/ingress"
	"k8s.io/kubernetes/pkg/registry/networking/networkpolicy"
	"k8s.io/kubernetes/pkg/registry/policy/poddisruptionbudget"
)

// The kinds that this platform uses, with the API server's strategy to validate a new object. All others are refused, even
// Secret, because secret values do not belong in a repository.
var strategies = map[schema.GroupKind]rest.RESTCreateStrategy{
	{Kind: "ConfigMap"}:                 configMaps,
	{Kind: "Namespace"}:                 namespaces,
	{Kind: "Service"}:                   services,
	{Group: "apps", Kind: "Deployment"}: deployment.Strategy,
	{Group: "autoscaling", Kind: "HorizontalPodAutoscaler"}: horizontalpodautoscaler.Strategy,
	{Group: "batch", Kind: "Job"}:                           jobs,
	{Group: "networking.k8s.io", Kind: "Ingress"}:           ingress.Strategy,
	{Group: "networking.k8s.io", Kind: "NetworkPolicy"}:     networkpolicy.Strategy,
	{Group: "policy", Kind: "PodDisruptionBudget"}:          poddisruptionbudget.Strategy,
}

// Refuses unknown fields and sets defaults, as the API server does.
var decoder = serializer.NewCodecFactory(legacyscheme.Scheme, serializer.EnableStrict).UniversalDecoder()

// Returns the errors and warnings with which the API server would respond to the creation of this object.
func refusals(document json.RawMessage) []problem {
	resource := nameOf(document)
	object, version, err := decoder.Decode(document, nil, nil)
	problems := []problem{}
	complain := func(detail string) { problems = append(problems, problem{Resource: resource, Detail: detail}) }
	if strict, ok := runtime.AsStrictDecodingError(err); ok {
		for _, unknown := range strict.Errors() {
			complain(unknown.Error())
		}
	} else if err != nil {
		complain(err.Error())
	}
	if object == nil || version == nil {
		return problems
	}
	strategy, used := strategies[version.GroupKind()]
	if !used {
		complain(fmt.Sprintf("%s is no kind that this platform uses", version.GroupKind()))
		return problems
	}
	ctx, err := requestFor(object, *version)
	if err != nil {
		complain(err.Error())
		return problems
	}
	if err := rest.BeforeCreate(strategy, ctx, object); err != nil {
		for _, detail := range causes(err) {
			complain(detail)
		}
	}
	for _, warning := range strategy.WarningsOnCreate(ctx, object) {
		complain(warning)
	}
	for _, detail := range podRefusals(document) {
		complain(detail)
	}
	return problems
}

// Makes the request that would create the object, and fills in the fields that the API server sets on each new object.
func requestFor(object runtime.Object, version schema.GroupVersionKind) (context.Context, error) {
	accessor, err := meta.Accessor(object)
	if err != nil {
		return nil, err
	}
	rest.FillObjectMetaSystemFields(accessor)
	ctx := request.WithNamespace(request.NewContext(), accessor.GetNamespace())
	info := &request.RequestInfo{APIGroup: version.Group, APIVersion: version.Version, Verb: "create"}
	return request.WithRequestInfo(ctx, info), nil
}

// Lists the single causes of an error.
func causes(err error) []string {
	status, ok := err.(errors.APIStatus)
	if !ok || status.Status().Details == nil || len(status.Status().Details.Causes) == 0 {
		return []string{err.Error()}
	}
	details := []string{}
	for _, cause := range status.Status().Details.Causes {
		details = append(details, fmt.Sprintf("%s: %s", cause.Field, cause.Message))
	}
	return details
}

// `Deployment/account-api`, for messages. A document that cannot be parsed is reported later.
func nameOf(document json.RawMessage) string {
	var head struct {
		Kind     string
		Metadata struct{ Name string }
	}
	_ = json.Unmarshal(document, &head)
	return head.Kind + "/" + head.Metadata.Name
}
